import { parseJson } from '../../foundation/ids/index.ts';
import { checkAnswer } from '../../protocol/json-schema/index.ts';

/** One object for all calls: a schema is prepared once per object. */
const anyJson = {};

/** The JSON that a model answered, in a code fence or not; undefined where there is none. Bounded in size and depth. */
export async function jsonIn(output: string): Promise<unknown> {
  const checked = await checkAnswer(anyJson, output);
  return checked.kind === 'valid' ? parseJson(checked.text) : undefined;
}
