// The response that its events make: its items when they are whole, and its end.

import type { WrittenHubAnswer } from '../../../hub/index.ts';
import { stringifyInTurns, type TokenReport } from '../../../wire/index.ts';
import { openResponseFold } from '../stream-fold.ts';
import { type ResponseEnd, responseText, toReport, type Writing } from './response-object.ts';
import type { ResponseSink } from './write-response-events.ts';

export function foldResponse(writing: Writing) {
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

  async function answer(nextStep: () => Promise<void>): Promise<WrittenHubAnswer> {
    if (ended === undefined) throw new Error('a response has not ended');
    const texts: string[] = [];
    for (const item of fold.answer().output as object[]) texts.push(await stringifyInTurns(item, nextStep));
    const { end, tokens } = ended;
    const output = { items: texts, tokens, outputBytes };
    const text = responseText(writing, end, output);
    return { text, usage: toReport(writing.head, output), outputBytes, finishReasons: [end.status] };
  }

  return { sinkTo, answer };
}
