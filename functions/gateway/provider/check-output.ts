// Structured output: an answer that does not satisfy its schema is asked for again, a bounded number of times. Every
// answer is charged, also one that no client sees.

import { chargedAnswersMax } from '../../../shared/foundation/constants/index.ts';
import {
  type JsonAnswer,
  readChoices,
  withContents,
} from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import { checkAnswer } from '../../../shared/protocol/json-schema/index.ts';
import { isJsonObject, isJsonText } from '../../../shared/protocol/wire/index.ts';
import { payerOf } from '../../../shared/routing/planner/index.ts';
import type { AdmittedCandidate } from '../../../shared/routing/provider-metrics/index.ts';
import type { ModelCall } from '../stages.ts';

export type Verdict =
  | { readonly kind: 'accepted'; readonly answer: JsonAnswer }
  | { readonly kind: 'again' }
  /** Another try would end the same way. */
  | { readonly kind: 'exhausted' };

export interface OutputCheck {
  /** Charges the answer, then holds it against the schema. `tokens`: what the provider's limits count. */
  readonly check: (
    admitted: AdmittedCandidate,
    answer: JsonAnswer,
  ) => Promise<{ readonly tokens: number; readonly verdict: Verdict }>;
  /** Answers that did not satisfy the schema so far. */
  readonly misses: () => number;
}

export function createOutputCheck({
  request,
  size,
  bill,
  byok,
  acceptsUnfinished,
  schemaWork,
}: ModelCall): OutputCheck {
  const schema = request.responseSchema;
  let misses = 0;

  async function judge(answer: JsonAnswer): Promise<Verdict> {
    if (schema === undefined) return { kind: 'accepted', answer };
    const checked = await checkChoices(schema, answer, { acceptsUnfinished, schemaWork });
    if (checked.kind === 'valid') return { kind: 'accepted', answer: checked.answer };
    misses += 1;
    return misses >= chargedAnswersMax || checked.wasCut ? { kind: 'exhausted' } : { kind: 'again' };
  }

  return {
    async check({ candidate }, answer) {
      const { usage: reported, outputBytes } = answer;
      const payer = payerOf(byok, candidate);
      const { usage } = bill.charge({ candidate, reported, output: { outputBytes }, payer, size });
      return { tokens: usage.promptTokens + usage.completionTokens, verdict: await judge(answer) };
    },
    misses: () => misses,
  };
}

type Message = Readonly<Record<string, unknown>>;

type Checked =
  | { readonly kind: 'valid'; readonly answer: JsonAnswer }
  /** `wasCut`: it ended at its token limit, where the next one would end too. */
  | { readonly kind: 'invalid'; readonly wasCut: boolean };

async function checkChoices(
  schema: unknown,
  answer: JsonAnswer,
  { acceptsUnfinished, schemaWork }: Pick<ModelCall, 'acceptsUnfinished' | 'schemaWork'>,
): Promise<Checked> {
  const contents = new Map<number, string>();
  const choices = readChoices(answer.json).choices as unknown[];
  for (const [place, choice] of choices.entries()) {
    const message = isJsonObject(choice) && isJsonObject(choice.message) ? choice.message : undefined;
    if (!isJsonObject(choice) || message === undefined) return { kind: 'invalid', wasCut: false };
    if (isOtherKind(message) || (acceptsUnfinished && choice.finish_reason !== 'stop')) continue;
    const text = textOf(message.content);
    const checked = await checkAnswer(schema, text, schemaWork);
    if (checked.kind === 'invalid') return { kind: 'invalid', wasCut: choice.finish_reason === 'length' };
    // What a client can parse as it is stays as it is: only what is around the JSON and is none is taken off.
    const isFine = text === message.content && isJsonText(text);
    if (!isFine) contents.set(place, checked.text);
  }
  return { kind: 'valid', answer: { ...answer, json: withContents(answer.json, contents) } };
}

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
