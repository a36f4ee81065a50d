// The content of a revision as the text that is stored. Order counts in it: providers write the members of a structured
// answer in the order of the schema.
import { canonicalJson, sha256Hex } from '../../foundation/ids/index.ts';
import type { FunctionDocument, RevisionContent } from './document.ts';

export interface RevisionText {
  readonly text: string;
  readonly textSha256: string;
  readonly contentSha256: string;
}

export type DeclaredRevision = FunctionDocument['revisions'][number];

/** All of a declared revision but its id and its state. */
export function contentOf(kind: FunctionDocument['kind'], revision: DeclaredRevision): RevisionContent {
  const { id: _id, state: _state, ...content } = revision;
  return { kind, ...content } as RevisionContent;
}

export function toText(content: RevisionContent): RevisionText {
  const text = JSON.stringify(content);
  return { text, textSha256: sha256Hex(text), contentSha256: sha256Hex(canonicalJson(content)) };
}
