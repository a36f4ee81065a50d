// Reads a provider's embeddings, and writes them for the client with the cost in `usage`.
import { upstreamBodyMaxBytes } from '../../../foundation/constants/index.ts';
import {
  type AnswerCost,
  isJsonObject,
  type JsonAnswer,
  type ReadAnswer,
  rewriteMembers,
  toCount,
  type UsageReport,
  type WrittenAnswer,
} from '../../wire/index.ts';
import { putBackValues, readListAnswer, takeOutValues } from '../index.ts';
import { vectors } from './vectors.ts';

interface EmbeddingsAnswer extends JsonAnswer {
  readonly values: readonly string[];
}

export async function readEmbeddingsAnswer(text: string): Promise<ReadAnswer> {
  const without = await takeOutValues(text, vectors);
  // Without the vectors the bound of any answer applies.
  if (without.text.length > upstreamBodyMaxBytes) return refusedAnswer(text);
  const read = await readListAnswer(without.text, { list: 'data', readUsage: readEmbeddingsUsage });
  if (read.kind !== 'answer') return read;
  const answer: EmbeddingsAnswer = { ...read.answer, text, values: without.values };
  return { kind: 'answer', answer };
}

const refusedAnswer = (text: string): ReadAnswer => ({
  kind: 'refused',
  refused: { usage: undefined, outputBytes: text.length },
});

function readEmbeddingsUsage(usage: unknown): UsageReport | undefined {
  if (!isJsonObject(usage)) return undefined;
  const tokens = {
    input: toCount(usage.prompt_tokens) ?? toCount(usage.total_tokens),
    cached: 0,
    cacheWrite: 0,
    cacheWrite1h: 0,
    output: 0,
    reasoning: 0,
  };
  return { tokens, members: usage };
}

/** `answer`: of `readEmbeddingsAnswer`. */
export function writeEmbeddings(answer: JsonAnswer, { cost, costUsd }: AnswerCost): WrittenAnswer {
  const { values } = answer as EmbeddingsAnswer;
  const usage = { ...answer.usage?.members, cost, cost_usd: costUsd };
  const text = rewriteMembers(answer.json, new Map([['usage', usage]]));
  return { body: putBackValues({ text, values }, vectors), headers: {} };
}
