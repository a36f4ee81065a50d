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
