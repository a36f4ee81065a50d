import { once } from '../../foundation/cache/index.ts';
import { type HubNeed, type JsonText, parseJson } from '../wire/index.ts';
import type { ClientRequest } from './client-interface.ts';

/** What a request says for its translation. `readNeeds`: left out where its interface is not translated. */
export function hubMembers(
  text: () => JsonText,
  readNeeds: (body: Readonly<Record<string, unknown>>) => readonly HubNeed[] = () => [],
): Pick<ClientRequest, 'wholeBody' | 'hubNeeds'> {
  const wholeBody = once(() => parseJson(text().text) as Readonly<Record<string, unknown>>);
  return { wholeBody, hubNeeds: once(() => readNeeds(wholeBody())) };
}

/** A request may ask for the same thing a hundred thousand times: one place of it says enough. */
export function firstOfEachNeed(needs: readonly HubNeed[]): HubNeed[] {
  const first = new Map<string, HubNeed>();
  for (const need of needs) {
    const key = `${need.kind} ${need.mediaType ?? ''}`;
    if (!first.has(key)) first.set(key, need);
  }
  return [...first.values()];
}
