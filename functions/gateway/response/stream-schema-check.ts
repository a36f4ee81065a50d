// A streamed answer is held against its schema when it is complete. It has been relayed by then, so one
// that does not satisfy the schema ends with an error line, is billed, and is not asked for again.
import { collectedStreamMaxBytes } from '../../../shared/foundation/constants/index.ts';
import { readChoices } from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import { checkAnswer, type SchemaWork } from '../../../shared/protocol/json-schema/index.ts';
import { isJsonObject, type JsonText } from '../../../shared/protocol/wire/index.ts';

export interface StreamSchemaCheck {
  /** A chunk of the provider. */
  readonly add: (chunk: JsonText) => void;
  /** A choice that calls tools, refuses or was cut is not held against the schema: it is the client's to read. */
  readonly isSatisfied: () => Promise<boolean>;
}

interface Choice {
  text: string;
  finishReason: unknown;
  isOtherKind: boolean;
}

export function createStreamSchemaCheck(schema: unknown, work: SchemaWork): StreamSchemaCheck {
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

  return {
    add(chunk) {
      const list = readChoices(chunk).choices;
      for (const choice of Array.isArray(list) ? list : []) if (isJsonObject(choice)) addChoice(choice);
    },
    async isSatisfied() {
      const checked = [...choices.values()].filter((one) => one.finishReason === 'stop' && !one.isOtherKind);
      if (checked.length > 0 && length > collectedStreamMaxBytes) return false;
      const verdicts = await Promise.all(checked.map(({ text }) => checkAnswer(schema, text, work)));
      return verdicts.every(({ kind }) => kind === 'valid');
    },
  };
}

const isFilled = (value: unknown): boolean => (Array.isArray(value) || typeof value === 'string') && value.length > 0;
