// Which draft a schema is written in, where `$schema` says it.
import { isObject } from './json-value.ts';
import { UnusableSchema } from './unusable-schema.ts';

export type Draft = '2020-12' | '7';

const drafts: ReadonlyMap<unknown, Draft> = new Map([
  ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
  ['http://json-schema.org/draft-07/schema', '7'],
]);

/** Both are commonly written with the other protocol too, and with or without the empty fragment. */
function draftOf(uri: unknown): Draft | undefined {
  if (typeof uri !== 'string') return undefined;
  const [withoutFragment = '', fragment = ''] = uri.split('#', 2);
  if (fragment !== '') return undefined;
  return drafts.get(withoutFragment) ?? drafts.get(withoutFragment.replace(/^https?/, swapProtocol));
}

const swapProtocol = (protocol: string): string => (protocol === 'http' ? 'https' : 'http');

/** Undefined: it says none. Throws UnusableSchema when `$schema` names any other draft. */
export function readDraft(schema: unknown): Draft | undefined {
  if (!isObject(schema) || schema.$schema === undefined) return undefined;
  const draft = draftOf(schema.$schema);
  if (draft === undefined) throw new UnusableSchema('/$schema', 'must name draft 2020-12 or draft-07');
  return draft;
}

export const isDraft = (uri: unknown, draft: Draft): boolean => draftOf(uri) === draft;
