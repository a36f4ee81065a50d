// Defines the interface of embeddings, with text as input and vectors as output, and without streams.
import * as z from 'zod/mini';
import { fail } from '../../../errors/index.ts';
import { largeBodyMaxBytes, upstreamBodyMaxBytes } from '../../../foundation/constants/index.ts';
import {
  type AnswerCost,
  isJsonObject,
  type JsonAnswer,
  type JsonObject,
  type JsonText,
  type ReadAnswer,
  rewriteMembers,
  toCount,
  type UsageReport,
  type WrittenAnswer,
} from '../../wire/index.ts';
import {
  type LongValues,
  plainMembers,
  putBackValues,
  readListAnswer,
  relayedInterface,
  takeOutValues,
} from '../index.ts';

/** Maximum number of inputs that providers of this interface accept, and so of vectors in an answer. */
const inputsMax = 2_048;

const vectors: LongValues = {
  memberName: '"embedding"',
  // A value has at most ten thousand numbers of a hundred digits each.
  valueMaxCharacters: 1024 * 1024,
  valuesMax: inputsMax,
};

const charactersOf = (json: JsonText, value: number): number => json.end(value) - json.start(value);

const tooLargeAnswer = (text: string): ReadAnswer => ({
  kind: 'refused',
  refused: { usage: undefined, outputBytes: text.length },
});

export const embeddings = relayedInterface({
  id: 'embeddings',
  telemetryOperation: 'embeddings',
  grammar: async () => (await import('./grammar.ts')).grammar,
  operation: async () => (await import('./operation.ts')).operation,
  playground: async () => (await import('./playground.ts')).playground,
  packageModels: 'embedding',
  upstreamPath: '/embeddings',
  takesLong: false,
  schema: z.looseObject(plainMembers),
  uncheckedNames: ['dimensions'],
  // The field may have thousands of texts, so it is checked without parsing.
  unparsedName: 'input',
  promptMember: 'input',
  readInput: readEmbeddingsInput,
  readAnswer: readEmbeddingsAnswer,
  writeAnswer: writeEmbeddings,
  answerMaxBytes: largeBodyMaxBytes,
});

// Reads a provider's embeddings, and writes them for the client with the cost in `usage`.

interface EmbeddingsAnswer extends JsonAnswer {
  readonly values: readonly string[];
}

async function readEmbeddingsAnswer(text: string): Promise<ReadAnswer> {
  const without = await takeOutValues(text, vectors);
  // Without the vectors an answer has the usual bound.
  if (without.text.length > upstreamBodyMaxBytes) return tooLargeAnswer(text);
  const read = await readListAnswer(without.text, { list: 'data', readUsage: readEmbeddingsUsage });
  if (read.kind !== 'answer') return read;
  const answer: EmbeddingsAnswer = { ...read.answer, text, values: without.values };
  return { kind: 'answer', answer };
}

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

/** Writes the answer. `answer` is a result of `readEmbeddingsAnswer`. */
function writeEmbeddings(answer: JsonAnswer, { cost, costUsd }: AnswerCost): WrittenAnswer {
  const { values } = answer as EmbeddingsAnswer;
  const usage = { ...answer.usage?.members, cost, cost_usd: costUsd };
  const text = rewriteMembers(answer.json, new Map([['usage', usage]]));
  return { body: putBackValues({ text, values }, vectors), headers: {} };
}

// Reads a request for embeddings. The reader is strict in the fields that the gateway reads, and indifferent to the
// rest.

function readEmbeddingsInput(json: JsonText, _body: unknown, { dimensions }: JsonObject) {
  const { count, longestCharacters, hasTokens } = checkInput(json);
  return {
    size: { contexts: count },
    promptBytes: longestCharacters,
    hubNeeds: [
      ...(hasTokens ? [{ kind: 'token_ids', member: 'input' } as const] : []),
      ...((dimensions ?? null) === null ? [] : [{ kind: 'dimensions', member: 'dimensions' } as const]),
    ],
  };
}

interface Inputs {
  readonly count: number;
  /** Characters of the longest input, because the model's context has to fit each input, not their sum. */
  readonly longestCharacters: number;
  readonly hasTokens: boolean;
}

/**
 * Checks the input, which is a text, a list of texts, a list of tokens, or a list of lists of tokens. The provider
 * judges their contents.
 */
function checkInput(json: JsonText): Inputs {
  const inputs = [...json.members()].filter(({ name }) => name === 'input');
  const [input, again] = inputs;
  if (again !== undefined) throw fail('invalid_request', { message: 'input: stands twice', param: 'input' });
  if (input === undefined) throw fail('invalid_request', { message: 'input: is missing', param: 'input' });
  const { value } = input;
  const whole = { count: 1, longestCharacters: charactersOf(json, value), hasTokens: !json.isString(value) };
  if (json.isString(value)) return whole;
  if (!json.isArray(value)) {
    throw fail('invalid_request', { message: 'input: must be a text or a list', param: 'input' });
  }
  let count = 0;
  let tokens = 0;
  let longestCharacters = 0;
  let hasTokens = false;
  for (const item of json.inside(value)) {
    count += 1;
    longestCharacters = Math.max(longestCharacters, charactersOf(json, item));
    hasTokens ||= !json.isString(item);
    if (json.isNumber(item)) tokens += 1;
    else if (!json.isString(item) && !json.isArray(item)) {
      throw fail('invalid_request', { message: 'input: must hold texts or tokens', param: `input[${count - 1}]` });
    }
  }
  if (count === 0) throw fail('invalid_request', { message: 'input: is empty', param: 'input' });
  // A list of tokens is one input.
  if (tokens === count) return whole;
  if (count > inputsMax) {
    throw fail('invalid_request', { message: `input: holds more than ${inputsMax} inputs`, param: 'input' });
  }
  return { count, longestCharacters, hasTokens };
}
