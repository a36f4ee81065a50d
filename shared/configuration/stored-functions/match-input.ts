// What a call of a function may hold (contract 8): its own members, and messages that are the input alone or the fixed
// messages verbatim and then the input.
//
//   fixed   the messages of a prompt that hold no reference, in their order. The steps of a workflow fix none: a client
//           does not see them, so a workflow is called with its input alone.
//   input   one more message of the role user: a text, or a text that is one JSON object.
import type { SchemaWork } from '../../protocol/json-schema/index.ts';
import { readCallMembers } from './call-members.ts';
import { type FunctionInput, readDeclaredInput } from './declared-input.ts';
import type { RevisionContent } from './document.ts';
import { readInputMessage } from './input-message.ts';
import { fixedMessages } from './references.ts';

export interface MatchedInput {
  readonly input: FunctionInput;
  /** `user` and `metadata` as sent: they go to every provider call of the function. */
  readonly passed: Readonly<Record<string, unknown>>;
}

/**
 * Throws invalid_function_request with what is fixed and what was sent. `raw` is a readable request: a model, and
 * messages with a role each.
 */
export async function matchInput(
  content: RevisionContent,
  raw: Readonly<Record<string, unknown>>,
  work?: SchemaWork,
): Promise<MatchedInput> {
  const passed = readCallMembers(content, raw);
  const text = readInputMessage(fixedMessages(content), raw.messages);
  return { input: await readDeclaredInput(content, text, work), passed };
}
