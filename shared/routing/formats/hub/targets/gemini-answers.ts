// A whole answer of Gemini in pieces, where it holds so many parts that its package, which reads an answer at once, would hold up
// others.
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { jsonResponse } from '../middle/index.ts';
import { piecesOf } from './gemini-events.ts';

/** `open`: the model of the package. It is asked again for each piece, and what it is asked then goes to no provider. */
export function readInPieces(
  open: (fetchPieces: typeof fetch) => LanguageModelV4,
  fetchWhole: typeof fetch,
  nextStep: () => Promise<void>,
): LanguageModelV4 {
  let pieces: string[] = [];
  const model = open(async (...request) => {
    const piece = pieces.shift();
    if (piece !== undefined) return jsonResponse(piece, nextStep);
    const response = await fetchWhole(...request);
    if (response.headers.get('content-type') !== 'application/json') return response;
    const text = await response.text();
    await nextStep();
    pieces = [...piecesOf(text, false)];
    await nextStep();
    return jsonResponse(pieces.shift() ?? text, nextStep);
  });
  return Object.assign(Object.create(model) as LanguageModelV4, {
    async doGenerate(options: LanguageModelV4CallOptions) {
      let answer = await model.doGenerate(options);
      const content = [...answer.content];
      while (pieces.length > 0) {
        await nextStep();
        answer = await model.doGenerate({ ...options, prompt: [] });
        for (const part of answer.content) content.push(part);
      }
      return { ...answer, content };
    },
  });
}
