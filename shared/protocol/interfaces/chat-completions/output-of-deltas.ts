// Reads the output in the deltas of a chunk from parsed values.
import { isJsonObject, type JsonObject } from '../../wire/index.ts';
import { textBytesOf } from '../index.ts';

export interface OutputOfDeltas {
  readonly hasOutput: boolean;
  /** True if all output is thinking. */
  readonly isOnlyThinking: boolean;
  readonly outputBytes: number;
}

/**
 * Matches fields that a client can use, whatever names providers have for them, because `reasoning_content` and
 * `reasoning_details` share a prefix.
 */
const outputMember = /^(content|refusal|reasoning|thinking|tool_calls|function_call|audio|image)/;

/** True for a field of output. A role, an id or a tier is not output, because a provider may fail right after it. */
const isOutputMember = (name: string): boolean => name === 'content' || (name !== 'role' && outputMember.test(name));

const isThinkingMember = (name: string): boolean => name.startsWith('reasoning') || name.startsWith('thinking');

/** Names of fields without text of the model. */
const structuralNames: ReadonlySet<string> = new Set(['role', 'id', 'type', 'index', 'format', 'signature']);
/** Names whose fields repeat the field `reasoning` of the same object. */
const namesBesideReasoning: ReadonlySet<string> = new Set([...structuralNames, 'reasoning_details']);

/** Fields of a message or a delta that do not count as output. */
export const uncountedNames = (hasReasoning: boolean): ReadonlySet<string> =>
  hasReasoning ? namesBesideReasoning : structuralNames;

export function outputOfDeltas(choices: unknown): OutputOfDeltas {
  let hasOutput = false;
  let hasAnswer = false;
  let outputBytes = 0;
  for (const choice of Array.isArray(choices) ? choices : []) {
    if (!isJsonObject(choice) || !isJsonObject(choice.delta)) continue;
    const { delta } = choice;
    for (const name of Object.keys(delta)) {
      if (!isOutputMember(name) || isEmpty(delta[name])) continue;
      hasOutput = true;
      hasAnswer ||= !isThinkingMember(name);
    }
    outputBytes += outputBytesOfMessage(delta);
  }
  return { hasOutput, isOnlyThinking: hasOutput && !hasAnswer, outputBytes };
}

/** Returns the output bytes of a parsed message or delta. */
export const outputBytesOfMessage = (message: JsonObject): number =>
  textBytesOf(message, uncountedNames(typeof message.reasoning === 'string' && message.reasoning !== ''));

const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0);
