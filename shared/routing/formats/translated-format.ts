// The formats that a chat completion is translated into. What translates is loaded with the first call of such a provider.
import { parseJson } from '../../protocol/wire/index.ts';
import { StreamBroken } from '../providers/index.ts';
import type { Format, FormatAnswer } from './provider-format.ts';
import type { NoAnswer } from './send.ts';
import type { TranslatedAnswer } from './translated/index.ts';
import type { TranslatedApi } from './translated/missing-features.ts';

export const translated =
  (api: TranslatedApi): Format =>
  async ({ request, correlationId, createdSeconds }, candidate, send) => {
    const { translate } = await import('./translated/index.ts');
    const body = parseJson(request.text().text) as Readonly<Record<string, unknown>>;
    const { stream } = request;
    const call = { api, body, stream, output: request.size(), id: correlationId, createdSeconds };
    return withBrokenStream(await translate(call, candidate, send));
  };

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
