// The formats that a chat completion is translated into. What translates is loaded with the first call of such a provider.
import { nextTurn } from '../../foundation/time/index.ts';
import { scanAnswer } from '../../protocol/interfaces/index.ts';
import { parseJson } from '../../protocol/wire/index.ts';
import { type NoAnswer, type Send, StreamBroken } from '../providers/index.ts';
import { missingFeatures } from './missing-features.ts';
import type { Format, FormatAnswer } from './provider-format.ts';
import type { TranslatedAnswer, TranslatedApi } from './translated/index.ts';

/** Translated within a few milliseconds. The steps of a longer request have turns of their own. */
const longRequestCharacters = 256 * 1024;

export const translated =
  (api: TranslatedApi): Format =>
  async ({ request, correlationId, createdSeconds }, candidate, send) => {
    const { text } = request.text();
    const nextStep = async () => {
      if (text.length > longRequestCharacters) await nextTurn();
    };
    const body = parseJson(text) as Readonly<Record<string, unknown>>;
    const [missing] = missingFeatures(body, api);
    // The planner passes such a candidate over; here nothing is dropped in silence either.
    if (missing !== undefined) return cannotSay(missing.member);
    const { translate } = await import('./translated/index.ts');
    const { stream } = request;
    const call = { api, body, stream, output: request.size(), id: correlationId, createdSeconds, nextStep };
    return withBrokenStream(await translate(call, candidate, boundedBy(send)));
  };

/** A package makes every value of an answer, however many: one that holds more than an answer may is not given to it. */
const boundedBy =
  (send: Send): Send =>
  async (request) => {
    const sent = await send(request);
    if (sent.kind === 'failure') return sent;
    const readText = async () => {
      const text = await sent.readText();
      if (text === undefined || scanAnswer(text) === undefined) return undefined;
      // The package reads it in a turn of its own.
      await nextTurn();
      return text;
    };
    return { ...sent, readText };
  };

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
