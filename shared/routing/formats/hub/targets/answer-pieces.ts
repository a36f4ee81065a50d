// Splits a whole answer if it has many parts, because a package reads an answer at once and would block other calls.
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { inOneTurn, nextTurn } from '../../../../foundation/time/index.ts';
import { jsonResponse } from '../../../../protocol/hub/index.ts';
import type { JsonText } from '../../../../protocol/wire/index.ts';
import type { ModelOptions } from './hub-target.ts';

/** Length below which a text is read at once, whatever its content. */
export const longCharacters = 16 * 1024;

/** Yields the items of a list in several lists. It yields nothing if there are few. */
export function* listPieces(
  json: JsonText,
  list: number,
): Generator<{ readonly text: string; readonly isLast: boolean }> {
  const items = [...json.inside(list)];
  if (items.length <= inOneTurn.items) return;
  for (let from = 0; from < items.length; from += inOneTurn.items) {
    const some = items.slice(from, from + inOneTurn.items).map((item) => json.slice(item));
    yield { text: `[${some.join(',')}]`, isLast: from + inOneTurn.items >= items.length };
  }
}

/**
 * Returns a model that reads in pieces. `open` opens the package's model, which is called again for each piece; these
 * calls are sent to no provider. `piecesOf` is the answer itself, or several of which the last has the finish reason
 * and the usage.
 */
export function readInPieces(
  { fetch: fetchWhole }: Pick<ModelOptions, 'fetch'>,
  piecesOf: (text: string) => Iterable<string>,
  open: (fetchPieces: typeof fetch) => LanguageModelV4,
): LanguageModelV4 {
  let pieces: string[] = [];
  const model = open(async (...request) => {
    const piece = pieces.shift();
    if (piece !== undefined) return jsonResponse(piece);
    const response = await fetchWhole(...request);
    if (response.headers.get('content-type') !== 'application/json') return response;
    const text = await response.text();
    if (text.length > inOneTurn.jsonCharacters) await nextTurn();
    pieces = [...piecesOf(text)];
    return jsonResponse(pieces.shift() ?? text);
  });
  return Object.assign(Object.create(model) as LanguageModelV4, {
    async doGenerate(options: LanguageModelV4CallOptions) {
      let answer = await model.doGenerate(options);
      const content = [...answer.content];
      while (pieces.length > 0) {
        await nextTurn();
        answer = await model.doGenerate({ ...options, prompt: [] });
        for (const part of answer.content) content.push(part);
      }
      return { ...answer, content };
    },
  });
}
