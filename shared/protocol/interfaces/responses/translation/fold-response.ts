// Assembles a response from its events, which are its items when they are complete, and its end.

import type { FoldedAnswer } from '../../../hub/index.ts';
import type { TokenReport } from '../../../wire/index.ts';
import { openResponseFold } from '../stream-fold.ts';
import { type ResponseContext, type ResponseEnd, responseText, toReport } from './response-object.ts';
import type { ResponseSink } from './write-response-events.ts';

export function foldResponse(writing: ResponseContext) {
  const fold = openResponseFold();
  let outputBytes = 0;
  let ended: { readonly end: ResponseEnd; readonly tokens: TokenReport | undefined } | undefined;

  const sinkTo = (give: (fields: object) => void): ResponseSink => ({
    emit(type, fields, { modelText = '', item } = {}) {
      outputBytes += Buffer.byteLength(modelText);
      if (item !== undefined) fold.add({ type, ...fields, item });
      give(fields);
    },
    end(end, tokens) {
      ended = { end, tokens };
    },
  });

  function answer(): FoldedAnswer {
    if (ended === undefined) throw new Error('a response has not ended');
    const { end, tokens } = ended;
    return {
      whole: fold.answer().output as object[],
      around: (items) => responseText(writing, end, { items: [items.slice(1, -1)], tokens, outputBytes }),
      usage: toReport(writing.head, { tokens, outputBytes }),
      outputBytes,
      finishReasons: [end.status],
    };
  }

  return { sinkTo, answer };
}
