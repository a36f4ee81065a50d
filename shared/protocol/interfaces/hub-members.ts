// Reads the fields of a request that every interface provides for its translation.
import { once } from '../../foundation/cache/index.ts';
import { openAiStopsMax, ownStopMaxCharacters, ownStopsMax } from '../../foundation/constants/index.ts';
import { type HubNeed, isJsonObject, type JsonObject, type JsonText, parseInTurns, parseJson } from '../wire/index.ts';
import type { ClientRequest } from './client-interface.ts';

/** Returns the values for the translation of a request. `readNeeds` is absent if its interface is not translated. */
export function hubMembers(
  text: () => JsonText,
  readNeeds: (body: JsonObject) => readonly HubNeed[] = () => [],
): Pick<ClientRequest, 'wholeBody' | 'readWholeBody' | 'letGoValues' | 'hubNeeds'> {
  let body: JsonObject | undefined;
  const wholeBody = () => {
    body ??= parseJson(text().text) as JsonObject;
    return body;
  };
  const readWholeBody = async () => {
    body ??= (await parseInTurns(text())) as JsonObject;
  };
  const letGoValues = () => {
    body = undefined;
  };
  return { wholeBody, readWholeBody, letGoValues, hubNeeds: once(() => readNeeds(wholeBody())) };
}

export const isWebUrl = (url: unknown): boolean =>
  typeof url === 'string' && /^https?:\/\//i.test(url) && URL.canParse(url);

/** Returns the first need of each kind, because a request may have the same need a hundred thousand times. */
export function firstOfEachNeed(requestNeeds: readonly HubNeed[]): HubNeed[] {
  const first = new Map<string, HubNeed>();
  const needs = [...requestNeeds, ...manyDocuments(requestNeeds)];
  for (const need of needs) {
    const key = `${need.kind} ${need.value ?? ''}`;
    if (!first.has(key)) first.set(key, need);
  }
  return [...first.values()];
}

/** Maximum number of documents in a message of Converse. */
const documentsInMessageMax = 5;
const messageOf = /^\w+\[\d+\]/;

function manyDocuments(needs: readonly HubNeed[]): HubNeed[] {
  const counts = new Map<string, number>();
  for (const { kind, member } of needs) {
    const message = kind === 'file' ? messageOf.exec(member)?.[0] : undefined;
    if (message === undefined) continue;
    const count = (counts.get(message) ?? 0) + 1;
    counts.set(message, count);
    if (count > documentsInMessageMax) return [{ kind: 'many_documents', member: message }];
  }
  return [];
}

/**
 * Returns the need for stop sequences that the gateway cannot apply itself. A provider that does not accept all stop
 * sequences is skipped.
 */
export function neededStops(stops: unknown, member: string): HubNeed[] {
  const texts = (typeof stops === 'string' ? [stops] : Array.isArray(stops) ? stops : []).filter(isStop);
  const count = new Set(texts).size;
  if (count <= ownStopsMax && texts.every(({ length }) => length <= ownStopMaxCharacters)) return [];
  return [{ kind: count > openAiStopsMax ? 'many_stop_sequences' : 'long_stop_sequences', member }];
}

const isStop = (stop: unknown): stop is string => typeof stop === 'string' && stop !== '';

/** True for a call that only fills the cache with a prompt, and has no answer. */
export const preparesCache = (options: unknown): boolean => isJsonObject(options) && options.prewarm === true;
