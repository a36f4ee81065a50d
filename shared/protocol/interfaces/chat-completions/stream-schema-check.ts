// A streamed answer is held against its schema when it is complete. It has been relayed by then, so one
// that does not satisfy the schema ends with an error line, is billed, and is not asked for again.
import { collectedStreamMaxBytes } from '../../../foundation/constants/index.ts';
import { checkAnswer, type SchemaWork } from '../../json-schema/index.ts';
import { isJsonObject } from '../../wire/index.ts';
import type { StreamSchemaCheck } from '../index.ts';
import { readChoices } from './provider-answer.ts';

interface Choice {
  text: string;
  finishReason: unknown;
  isOtherKind: boolean;
}

export function openStreamSchemaCheck(schema: unknown, work: SchemaWork): StreamSchemaCheck {
  const choices = new Map<number, Choice>();
  let length = 0;

  function addChoice(choice: Readonly<Record<string, unknown>>): void {
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

  /** Without a code fence: it was relayed with the JSON, and clients cannot read that. */
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
      const checked = [...choices.values()].filter((one) => one.finishReason === 'stop' && !one.isOtherKind);
      if (checked.length > 0 && length > collectedStreamMaxBytes) return '/: is too long to be checked';
      const mismatches = await Promise.all(checked.map(({ text }) => mismatchOf(text)));
      return mismatches.find((mismatch) => mismatch !== undefined);
    },
  };
}

const isFilled = (value: unknown): boolean => (Array.isArray(value) || typeof value === 'string') && value.length > 0;
