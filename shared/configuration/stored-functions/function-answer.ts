// Writes the answer of a function call, which is a chat.completion with the field `gw`. Pure.
import { brand } from '../../foundation/constants/index.ts';
import { readAnswerText } from '../../protocol/json-schema/index.ts';
import { isJsonObject, type JsonObject, type JsonText, parseJson, rewriteMembers } from '../../protocol/wire/index.ts';

interface FunctionExecution {
  readonly functionId: string;
  /** The revision that ran, whether the call pinned it or not. */
  readonly revisionId: string;
  /** True if a fallback model produced the result, or a part of it. */
  readonly fallbackUsed: boolean;
  /** Id of the execution, UUIDv7. */
  readonly executionId: string;
}

type FunctionResult =
  /** The provider's own body, unchanged. */
  | { readonly kind: 'prompt'; readonly json: JsonText }
  | {
      readonly kind: 'workflow';
      readonly output: string;
      /** The model as the client sent it, which is the alias. */
      readonly model: string;
      readonly nowMs: number;
    };

/** Returns the answer as JSON text. `usage` covers every provider call of the execution. */
export function toFunctionAnswer(execution: FunctionExecution, result: FunctionResult, usage: JsonObject): string {
  const functionMembers = {
    function_id: execution.functionId,
    revision_id: execution.revisionId,
    fallback_used: execution.fallbackUsed,
    execution_id: execution.executionId,
  };
  const gatewayFields = { usage, [brand]: functionMembers };
  if (result.kind === 'workflow') return JSON.stringify({ ...completionOf(execution, result), ...gatewayFields });
  return rewriteMembers(result.json, new Map(Object.entries(gatewayFields)));
}

/** Returns the completion that the gateway writes, because no single provider answered. */
const completionOf = (
  { executionId }: FunctionExecution,
  { output, model, nowMs }: Extract<FunctionResult, { kind: 'workflow' }>,
): JsonObject => ({
  id: `chatcmpl-${executionId}`,
  object: 'chat.completion',
  created: Math.floor(nowMs / 1000),
  model,
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: output, refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
});

/**
 * Returns the text of a step or a test case, which is the content of the first choice; undefined when the model refused
 * or called a tool.
 */
export function outputTextOf({ choices }: JsonObject): string | undefined {
  const [choice]: unknown[] = Array.isArray(choices) ? choices : [];
  const message = isJsonObject(choice) && isJsonObject(choice.message) ? choice.message : {};
  if (typeof message.content === 'string') return message.content;
  if (!Array.isArray(message.content)) return undefined;
  // Some providers answer in parts; providers with visible thinking have parts of other types before the text.
  const parts = message.content.filter(isJsonObject).filter(({ type }) => type === 'text');
  const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
  return texts.length === 0 ? undefined : texts.join('');
}

/**
 * Returns the JSON that a model answered, in a code fence or not; undefined if there is none. Bounded in size and
 * depth.
 */
export function jsonIn(output: string): unknown {
  const read = readAnswerText(output);
  return read.kind === 'json' ? parseJson(read.text) : undefined;
}
