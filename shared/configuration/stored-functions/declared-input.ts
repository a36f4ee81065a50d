// The input of a function as its revision declares it: free text, or one JSON object that satisfies a schema.
import { checkValue, type SchemaWork } from '../../protocol/json-schema/index.ts';
import { readJsonBody } from '../../protocol/wire/index.ts';
import type { RevisionContent } from './document.ts';
import { revisionReferences } from './references.ts';
import { refuse } from './refusal.ts';
import { noSteps, valueAt } from './render.ts';

export type FunctionInput = string | Readonly<Record<string, unknown>>;

/** The text of an input message. Throws invalid_function_request. */
export async function readDeclaredInput(
  content: RevisionContent,
  text: string,
  work?: SchemaWork,
): Promise<FunctionInput> {
  if (content.input.type === 'text') return text;
  const read = readJsonBody(Buffer.from(text));
  if (read.kind === 'unreadable') throw refuse('The input message must hold exactly one JSON object and nothing else.');
  await checkInput(content, read.value, work);
  return read.value;
}

/**
 * An input that is no message's text, that of a test case say. What every template needs of it is looked up before
 * any step of a workflow is paid for. Throws invalid_function_request.
 */
export async function checkInput(content: RevisionContent, input: FunctionInput, work?: SchemaWork): Promise<void> {
  if (content.input.type === 'object') {
    if (typeof input === 'string') throw refuse('The input must be a JSON object.');
    const problem = await checkValue(content.input.schema, input, work);
    if (problem !== undefined) {
      throw refuse(`The input${problem.path === '' ? '' : ` at ${problem.path}`}: ${problem.message}`);
    }
  } else if (typeof input !== 'string') throw refuse('The input must be text.');
  for (const reference of revisionReferences(content)) {
    if (reference.source === 'input') valueAt(reference, { input, steps: noSteps });
  }
}
