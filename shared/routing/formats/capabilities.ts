// In which interface of its provider a candidate is called, and what each format can be told of a request. Loads no translator.
import { type Candidate, hubApisFor, speaksOwn } from '../../configuration/catalogue/index.ts';
import type { HubApi } from '../../foundation/constants/index.ts';
import type { HubNeed, HubNeedKind, RoutedRequest } from '../../protocol/wire/index.ts';

/** Media types of files, or all that a need of this kind can ask for. */
type Ability = true | ReadonlySet<string>;

/** What is not named here a format has no words for. `data:` goes everywhere; a format without URLs takes only bytes. */
const abilities: Readonly<Record<HubApi, Readonly<Partial<Record<HubNeedKind, Ability>>>>> = {
  messages: { image_url: true, file_url: true, file: new Set(['application/pdf', 'text/plain']) },
  converse: {
    file: new Set([
      'application/pdf',
      'text/plain',
      'text/csv',
      'text/html',
      'text/markdown',
      'application/msword',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      'application/vnd.ms-excel',
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    ]),
  },
  'generate-content': { image_url: true, file_url: true, file: true, audio_input: true },
};

export function can(api: HubApi, { kind, mediaType = '' }: HubNeed): boolean {
  const ability = abilities[api][kind];
  return ability === true || ability?.has(mediaType) === true;
}

export type WayToCandidate =
  /** Its provider speaks the client's interface. */
  | { readonly kind: 'relay' }
  /** `lacks`: what the format cannot be told. With anything in it the candidate is not called. */
  | { readonly kind: 'hub'; readonly api: HubApi; readonly lacks: readonly HubNeed[] };

/** Of several formats the first that can be told everything, else the first. Undefined: its provider serves no such client. */
export function wayTo(
  candidate: Candidate,
  { interfaceId, hubNeeds }: Pick<RoutedRequest, 'interfaceId' | 'hubNeeds'>,
): WayToCandidate | undefined {
  if (speaksOwn(candidate, interfaceId)) return { kind: 'relay' };
  const ways = hubApisFor(candidate, interfaceId).map(
    (api) => ({ kind: 'hub', api, lacks: hubNeeds().filter((need) => !can(api, need)) }) as const,
  );
  return ways.find(({ lacks }) => lacks.length === 0) ?? ways[0];
}
