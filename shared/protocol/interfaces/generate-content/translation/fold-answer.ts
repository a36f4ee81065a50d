import type { JsonObject } from '../../../wire/index.ts';
import { openGeneratedFold } from '../stream-fold.ts';
import type { Written } from './write-chunks.ts';

/** Assembles an answer from its chunks. */
export function foldAnswer() {
  const fold = openGeneratedFold();
  let end: Written | undefined;
  let reason = '';
  return {
    /** Adds a chunk. `written` is set with the last chunk. */
    add(chunk: JsonObject, written: Written | undefined): void {
      fold.add(chunk);
      end ??= written;
      if (written !== undefined) reason = reasonIn(chunk);
    },
    answer() {
      if (end === undefined) throw new Error('an answer has not ended');
      return { whole: fold.answer(), usage: end.report, outputBytes: end.outputBytes, finishReasons: [reason] };
    },
  };
}

const reasonIn = ({ candidates }: JsonObject): string =>
  String((candidates as readonly [{ readonly finishReason: unknown }])[0].finishReason);
