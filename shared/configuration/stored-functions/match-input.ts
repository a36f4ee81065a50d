// Checks the body of a function call: `user` and `metadata`, and messages that are only the input, or the fixed
// messages verbatim and then the input.
//
//   fixed   the messages of a prompt without a reference, in their order. The steps of a workflow fix none: a client
//           does not see them, so a workflow is called with its input alone.
//   input   one more message of the role user: a text, or a text that is one JSON object.
import { canonicalJson } from '../../foundation/ids/index.ts';
import type { SchemaWork } from '../../protocol/json-schema/index.ts';
import { isJsonObject, type JsonObject } from '../../protocol/wire/index.ts';
import type { RevisionContent } from './function-document.ts';
import { type FunctionInput, listNames, readDeclaredInput, readInputMessage, refuse, shorten } from './read-input.ts';
import { fixedMessages, modelCallsOf } from './template.ts';

export interface MatchedInput {
  readonly input: FunctionInput;
  /** `user` and `metadata` as sent, which every provider call of the function gets. */
  readonly passed: JsonObject;
}

/**
 * Finds the input. Throws invalid_function_request with the fixed and the sent value. `raw` is a valid request with a
 * model, and messages with a role each.
 */
export async function matchInput(content: RevisionContent, raw: JsonObject, work?: SchemaWork): Promise<MatchedInput> {
  const passed = readCallMembers(content, raw);
  const text = readInputMessage(fixedMessages(content), raw.messages);
  return { input: await readDeclaredInput(content, text, work), passed };
}

const ownMembers: ReadonlySet<string> = new Set(['model', 'messages']);
/** Fields that a client may add, with their types. */
const passedMembers = new Map<string, (value: unknown) => boolean>([
  ['user', (value) => typeof value === 'string'],
  ['metadata', isJsonObject],
]);

/**
 * Returns the fields that are sent to the providers unchanged. Null counts as absent, as it does for the gateway's
 * fields: clients write it for values that they do not set. Throws invalid_function_request.
 */
function readCallMembers(content: RevisionContent, raw: JsonObject): JsonObject {
  const fields = Object.entries(raw).filter(([name, value]) => !ownMembers.has(name) && (value ?? null) !== null);
  const names = fields.map(([name]) => name).filter((name) => !passedMembers.has(name));
  if (names.length > 0) {
    const allowed = 'A function call takes model, messages, user and metadata only';
    throw refuse(`${allowed}, not ${listNames(names)}${fixedValues(content, names)}.`, names[0]);
  }
  for (const [name, value] of fields) {
    if (passedMembers.get(name)?.(value) !== true) throw refuse(`${name} is of the wrong type.`, name);
    if (modelCallsOf(content).some(({ options }) => changes(options, name, value))) {
      throw refuse(`The function fixes ${name}.`, name);
    }
  }
  return Object.fromEntries(fields);
}

function fixedValues(content: RevisionContent, names: readonly string[]): string {
  if (content.kind === 'workflow') return '';
  const fixed: JsonObject = { ...content.options, response_format: content.response_format?.type };
  const [name] = names.filter((field) => Object.hasOwn(fixed, field) && fixed[field] !== undefined);
  return name === undefined ? '' : `: the function fixes ${name} to ${shorten(fixed[name])}`;
}

const changes = (options: JsonObject, name: string, value: unknown): boolean =>
  Object.hasOwn(options, name) && canonicalJson(options[name]) !== canonicalJson(value);
