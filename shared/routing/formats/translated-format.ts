// The formats that a chat completion is translated into. What translates is loaded with the first call of such a provider.
import { parseJson } from '../../protocol/wire/index.ts';
import { type NoAnswer, StreamBroken } from '../providers/index.ts';
import { missingFeatures } from './missing-features.ts';
import type { Format, FormatAnswer } from './provider-format.ts';
import type { TranslatedAnswer, TranslatedApi } from './translated/index.ts';

export const translated =
  (api: TranslatedApi): Format =>
  async ({ request, correlationId, createdSeconds }, candidate, send) => {
    const body = parseJson(request.text().text) as Readonly<Record<string, unknown>>;
    const [missing] = missingFeatures(body, api);
    // The planner passes such a candidate over; here nothing is dropped in silence either.
    if (missing !== undefined) return cannotSay(missing.member);
    const { translate } = await import('./translated/index.ts');
    const { stream } = request;
    const call = { api, body, stream, output: request.size(), id: correlationId, createdSeconds };
    return withBrokenStream(await translate(call, candidate, send));
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
