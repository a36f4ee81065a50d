import { parseJson } from '../../foundation/ids/index.ts';
import { readAnswerText } from '../../protocol/json-schema/index.ts';

/** The JSON that a model answered, in a code fence or not; undefined where there is none. Bounded in size and depth. */
export function jsonIn(output: string): unknown {
  const read = readAnswerText(output);
  return read.kind === 'json' ? parseJson(read.text) : undefined;
}
