// The formats that a chat completion is translated into. What translates is loaded with the first call of such a provider.
import { nextTurn } from '../../foundation/time/index.ts';
import { scanAnswer } from '../../protocol/interfaces/index.ts';
import { parseJson } from '../../protocol/wire/index.ts';
import { type NoAnswer, type Send, StreamBroken } from '../providers/index.ts';
import { missingFeatures } from './missing-features.ts';
import type { Format, FormatAnswer } from './provider-format.ts';
import type { TranslatedAnswer, TranslatedApi } from './translated/index.ts';

/** Translated within a few milliseconds. The steps of a longer request, or answer, have turns of their own. */
const longCharacters = 256 * 1024;
/** Of a stream, what a package reads in one turn: a hundred and fifty parts, as small as they come. */
const turnMaxBytes = 16 * 1024;

export const translated =
  (api: TranslatedApi): Format =>
  async ({ request, correlationId, createdSeconds }, candidate, send) => {
    const { text } = request.text();
    let characters = text.length;
    const nextStep = async () => {
      if (characters > longCharacters) await nextTurn();
    };
    const onText = async (answer: string) => {
      characters = Math.max(characters, answer.length);
      await nextStep();
    };
    const body = parseJson(text) as Readonly<Record<string, unknown>>;
    const [missing] = missingFeatures(body, api);
    // The planner passes such a candidate over; here nothing is dropped in silence either.
    if (missing !== undefined) return cannotSay(missing.member);
    const { translate } = await import('./translated/index.ts');
    const { stream } = request;
    const call = { api, body, stream, output: request.size(), id: correlationId, createdSeconds, nextStep };
    return withBrokenStream(await translate(call, candidate, bounded(send, onText)));
  };

/** A package makes every value of an answer, however many: one that holds more than an answer may is not given to it. */
const bounded =
  (send: Send, onText: (text: string) => Promise<void>): Send =>
  async (request) => {
    const sent = await send(request);
    if (sent.kind === 'failure') return sent;
    const readText = async () => {
      const text = await sent.readText();
      if (text === undefined) return undefined;
      await onText(text);
      if (scanAnswer(text) === undefined) return undefined;
      await onText(text);
      return text;
    };
    return { ...sent, readText, body: inTurns(sent.body) };
  };

/** Bytes that are there at once are given piece by piece: others have the event loop in between. */
function inTurns(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const bytes = body[Symbol.asyncIterator]();
  let rest: Uint8Array = Buffer.alloc(0);
  let turnBytes = 0;
  async function next(): Promise<IteratorResult<Uint8Array>> {
    if (turnBytes >= turnMaxBytes) {
      await nextTurn();
      turnBytes = 0;
    }
    if (rest.length === 0) {
      const read = await bytes.next();
      if (read.done === true) return read;
      rest = read.value;
    }
    const value = rest.subarray(0, turnMaxBytes - turnBytes);
    rest = rest.subarray(value.length);
    turnBytes += value.length;
    return { value };
  }
  // Without `return`: what is left is drained, not closed.
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

const cannotSay = (param: string): NoAnswer => ({
  kind: 'failure',
  failure: { kind: 'invalid', param, reason: 'unsupported_parameter', cause: 'not_translatable' },
});

/** A failure becomes the error that readers of streams know: what was bundled apart has a class of its own by that name. */
function withBrokenStream(answer: TranslatedAnswer): FormatAnswer | NoAnswer {
  if (answer.kind !== 'stream') return answer;
  const { events } = answer;
  async function* read() {
    const failure = yield* events;
    if (failure !== undefined) throw new StreamBroken(failure);
  }
  return { ...answer, events: read() };
}
