// Checks structured output, which means whether the choices of an answer satisfy the schema of the request.
import { collectedStreamMaxBytes } from '../../../foundation/constants/index.ts';
import { checkAnswer, type SchemaWork } from '../../json-schema/index.ts';
import type { JsonAnswer } from '../../wire/index.ts';
import { isJsonObject, isJsonText, type JsonObject } from '../../wire/index.ts';
import type { AnswerChecking, CheckedAnswer, SchemaCheck, StreamSchemaCheck } from '../index.ts';
import { readChoices, withContents } from './provider-answer.ts';

export const schemaCheckOf = (schema: unknown): SchemaCheck => ({
  answer: (answer, options) => checkChoices(schema, answer, options),
  openStream: (work) => openStreamSchemaCheck(schema, work),
});

async function checkChoices(
  schema: unknown,
  answer: JsonAnswer,
  { skipsTruncated, schemaWork }: AnswerChecking,
): Promise<CheckedAnswer> {
  const contents = new Map<number, string>();
  const choices = readChoices(answer.json).choices as unknown[];
  for (const [place, choice] of choices.entries()) {
    const message = isJsonObject(choice) && isJsonObject(choice.message) ? choice.message : undefined;
    if (!isJsonObject(choice) || message === undefined)
      return { kind: 'invalid', mismatch: '/: no message', isFinal: false };
    if (isOtherKind(message) || (skipsTruncated && choice.finish_reason !== 'stop')) continue;
    const text = textOf(message.content);
    const result = await checkAnswer(schema, text, schemaWork);
    if (result.kind === 'invalid') {
      const { kind, mismatch, isUnchecked = false } = result;
      return { kind, mismatch, isFinal: isUnchecked || choice.finish_reason === 'length' };
    }
    // Text that a client can parse stays unchanged, because only other text around the JSON is removed.
    const isFine = text === message.content && isJsonText(text);
    if (!isFine) contents.set(place, result.text);
  }
  const json = await withContents(answer.json, contents);
  return { kind: 'valid', answer: { ...answer, json, text: json.text } };
}

/**
 * True for a tool call or a refusal, to which the schema does not apply. Many providers add an empty text to either.
 */
function isOtherKind({ tool_calls: toolCalls, function_call: functionCall, refusal, content }: JsonObject): boolean {
  if ((Array.isArray(toolCalls) && toolCalls.length > 0) || isJsonObject(functionCall)) return true;
  const isSilent = textOf(content).trim() === '';
  return isSilent && typeof refusal === 'string' && refusal !== '';
}

/** Returns the text of a content, which some providers write in parts, as in prompts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (isJsonObject(part) && typeof part.text === 'string' ? part.text : '')).join('');
}

// A streamed answer is checked against its schema when it is complete. The answer has been relayed by then, so an
// answer that fails the schema ends with an error line, is billed, and is not requested again.

interface Choice {
  text: string;
  finishReason: unknown;
  isOtherKind: boolean;
}

function openStreamSchemaCheck(schema: unknown, work: SchemaWork): StreamSchemaCheck {
  const choices = new Map<number, Choice>();
  let length = 0;

  function addChoice(choice: JsonObject): void {
    const index = typeof choice.index === 'number' ? choice.index : 0;
    const known = choices.get(index) ?? { text: '', finishReason: undefined, isOtherKind: false };
    choices.set(index, known);
    const delta = isJsonObject(choice.delta) ? choice.delta : {};
    if (typeof delta.content === 'string') {
      length += delta.content.length;
      if (length <= collectedStreamMaxBytes) known.text += delta.content;
    }
    known.finishReason = choice.finish_reason ?? known.finishReason;
    known.isOtherKind ||= isFilled(delta.tool_calls) || isJsonObject(delta.function_call) || isFilled(delta.refusal);
  }

  /** Checks the text as it was relayed. A code fence is not removed, because clients cannot read the JSON in it. */
  async function mismatchOf(text: string): Promise<string | undefined> {
    const verdict = await checkAnswer(schema, text, work);
    if (verdict.kind === 'invalid') return verdict.mismatch;
    return verdict.text === text.trim() ? undefined : '/: is not JSON';
  }

  return {
    add({ json }) {
      const list = readChoices(json).choices;
      for (const choice of Array.isArray(list) ? list : []) if (isJsonObject(choice)) addChoice(choice);
    },
    async mismatch() {
      const finishedChoices = [...choices.values()].filter((one) => one.finishReason === 'stop' && !one.isOtherKind);
      if (finishedChoices.length > 0 && length > collectedStreamMaxBytes) return '/: is too long to be checked';
      const mismatches = await Promise.all(finishedChoices.map(({ text }) => mismatchOf(text)));
      return mismatches.find((mismatch) => mismatch !== undefined);
    },
  };
}

const isFilled = (value: unknown): boolean => (Array.isArray(value) || typeof value === 'string') && value.length > 0;
