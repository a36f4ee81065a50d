// Structured output: whether the choices of an answer satisfy the schema of the request.
import { checkAnswer } from '../../json-schema/index.ts';
import { isJsonObject, isJsonText } from '../../wire/index.ts';
import type { AnswerChecking, CheckedAnswer, JsonAnswer, SchemaCheck } from '../index.ts';
import { readChoices, withContents } from './provider-answer.ts';
import { openStreamSchemaCheck } from './stream-schema-check.ts';

export const schemaCheckOf = (schema: unknown): SchemaCheck => ({
  answer: (answer, options) => checkChoices(schema, answer, options),
  openStream: (work) => openStreamSchemaCheck(schema, work),
});

async function checkChoices(
  schema: unknown,
  answer: JsonAnswer,
  { acceptsUnfinished, schemaWork }: AnswerChecking,
): Promise<CheckedAnswer> {
  const contents = new Map<number, string>();
  const choices = readChoices(answer.json).choices as unknown[];
  for (const [place, choice] of choices.entries()) {
    const message = isJsonObject(choice) && isJsonObject(choice.message) ? choice.message : undefined;
    if (!isJsonObject(choice) || message === undefined)
      return { kind: 'invalid', mismatch: '/: no message', isFinal: false };
    if (isOtherKind(message) || (acceptsUnfinished && choice.finish_reason !== 'stop')) continue;
    const text = textOf(message.content);
    const checked = await checkAnswer(schema, text, schemaWork);
    if (checked.kind === 'invalid') {
      const { kind, mismatch, isUnchecked = false } = checked;
      return { kind, mismatch, isFinal: isUnchecked || choice.finish_reason === 'length' };
    }
    // What a client can parse as it is stays as it is: only what is around the JSON and is none is taken off.
    const isFine = text === message.content && isJsonText(text);
    if (!isFine) contents.set(place, checked.text);
  }
  const json = await withContents(answer.json, contents);
  return { kind: 'valid', answer: { ...answer, json, text: json.text } };
}

type Message = Readonly<Record<string, unknown>>;

/** A tool call or a refusal: the schema does not speak of it. Many providers put an empty text beside either. */
function isOtherKind({ tool_calls: toolCalls, function_call: functionCall, refusal, content }: Message): boolean {
  if ((Array.isArray(toolCalls) && toolCalls.length > 0) || isJsonObject(functionCall)) return true;
  const isSilent = textOf(content).trim() === '';
  return isSilent && typeof refusal === 'string' && refusal !== '';
}

/** Some providers answer in parts, as prompts are written. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (isJsonObject(part) && typeof part.text === 'string' ? part.text : '')).join('');
}
