// Defines the interface of reranking, in Cohere's format, with a query and documents as input, and their ranking with
// scores as output.
import * as z from 'zod/mini';
import { fail } from '../../../errors/index.ts';
import {
  findMember,
  hasCounts,
  isJsonObject,
  type JsonObject,
  type JsonText,
  type ReadAnswer,
  toCount,
  type UsageReport,
} from '../../wire/index.ts';
import {
  plainMembers,
  type RelayedInput,
  readListAnswer,
  readUsageMember,
  relayedInterface,
  scanAnswer,
  withCostHeader,
} from '../index.ts';

const bad = (what: string, param = 'documents') => fail('invalid_request', { message: `documents: ${what}`, param });

// Counts search units, in which reranking is billed. A query with up to a hundred documents is one unit, and each part
// of a long document counts as a document (docs.cohere.com/docs/how-does-cohere-pricing-work,
// aws.amazon.com/bedrock/pricing, November 2026).
const documentsPerUnit = 100;
/** Tokens of a part, which include the query. */
const partTokens = 500;
/** Least tokens of a part, however long the query is. */
const partTokensMin = 100;

const count = z.nullish(z.int().check(z.minimum(1)));
const rerankSchema = z.looseObject({
  ...plainMembers,
  query: z.string().check(z.minLength(1)),
  top_n: count,
  max_tokens_per_doc: count,
  max_chunks_per_doc: count,
  return_documents: z.nullish(z.boolean()),
  rank_fields: z.nullish(z.array(z.string())),
});

export const rerank = relayedInterface({
  id: 'rerank',
  telemetryOperation: 'rerank',
  grammar: async () => (await import('./grammar.ts')).grammar,
  operation: async () => (await import('./operation.ts')).operation,
  playground: async () => (await import('./playground.ts')).playground,
  packageModels: 'reranking',
  upstreamPath: '/rerank',
  takesLong: false,
  schema: rerankSchema,
  // The field may have thousands of documents, so they are measured as text.
  unparsedName: 'documents',
  promptMember: 'documents',
  readInput,
  readAnswer: readRanking,
  writeAnswer: withCostHeader,
});

/** Bytes of a token, which are about four for English text in every common tokenizer. */
const usualBytesPerToken = 4;

/** Options that Bedrock's reranking cannot express, if they have an effect. */
const optionNames = [
  'max_tokens_per_doc',
  'max_chunks_per_doc',
  'return_documents',
  'rank_fields',
  'relevant_spans',
] as const;

function readInput(json: JsonText, { query }: { readonly query: string }, raw: JsonObject): RelayedInput {
  const { sizes, isMixed } = readDocuments(json);
  const longest = sizes.reduce((most, bytes) => Math.max(most, bytes), 0);
  const queryBytes = Buffer.byteLength(query);
  const unitsAt = (bytesPerToken: number) => ({ requests: searchUnits({ sizes, queryBytes }, bytesPerToken) });
  const optionMembers = optionNames.filter((name) => (raw[name] ?? false) !== false);
  return {
    // Each document has a context of its own in the model.
    size: {
      contexts: sizes.length,
      // The model reads the query once with each document.
      textBytes: sizes.reduce((sum, bytes) => sum + bytes + queryBytes, 0),
      units: unitsAt(1),
      usualUnits: unitsAt(usualBytesPerToken),
    },
    promptBytes: longest + queryBytes,
    hubNeeds: [
      ...optionMembers.map((member) => ({ kind: member, member }) as const),
      ...(isMixed ? [{ kind: 'mixed_documents', member: 'documents' } as const] : []),
    ],
  };
}

/** Reads the ranking, which Fireworks calls `data`; clients look for `results`. */
async function readRanking(text: string): Promise<ReadAnswer> {
  const read = await readListAnswer(withResults(text), { list: 'results', usage: 'meta', readUsage: readMeta });
  if (read.kind !== 'answer' || (read.answer.usage !== undefined && hasReport(read.answer.usage))) return read;
  const usage = readUsage(readUsageMember(read.answer.json)) ?? read.answer.usage;
  return { ...read, answer: { ...read.answer, usage } };
}

function withResults(text: string): string {
  const json = text.includes('"data"') && !text.includes('"results"') ? scanAnswer(text) : undefined;
  const data = json && findMember(json, 'data');
  if (json === undefined || data === undefined || !json.isArray(data)) return text;
  const renamed = json.nameStart(data);
  return `${text.slice(0, renamed)}"results"${text.slice(renamed + '"data"'.length)}`;
}

const hasReport = (usage: UsageReport): boolean => hasCounts(usage) || usage.requests !== undefined;

/**
 * Reads the usage. Cohere reports searches, or tokens if it bills tokens; other hosts of its format report all tokens
 * that they read.
 */
function readMeta(meta: unknown): UsageReport | undefined {
  const { billed_units: billed, tokens }: JsonObject = isJsonObject(meta) ? meta : {};
  const report = readUsage(billed);
  return report !== undefined && hasReport(report) ? report : (readUsage(tokens) ?? report);
}

const noTokens = { cached: 0, cacheWrite: 0, cacheWrite1h: 0, reasoning: 0 };

/** Reads the usage under the names of Cohere, or of Together, Fireworks, vLLM and Jina. */
function readUsage(usage: unknown): UsageReport | undefined {
  if (!isJsonObject(usage)) return undefined;
  const input = [usage.input_tokens, usage.prompt_tokens, usage.total_tokens].map(toCount);
  const read = input.find((count) => count !== undefined);
  // A score is not output.
  const output = toCount(usage.output_tokens) ?? toCount(usage.completion_tokens) ?? (read === undefined ? read : 0);
  const tokens = { ...noTokens, input: read, output };
  return { tokens, requests: toCount(usage.search_units), members: usage };
}

interface Searched {
  /** Bytes of each document. */
  readonly sizes: readonly number[];
  readonly queryBytes: number;
}

/** Returns the search units. `bytesPerToken` is 1 for the maximum, and 4 for the usual number. */
function searchUnits({ sizes, queryBytes }: Searched, bytesPerToken: number): number {
  const tokensOf = (bytes: number) => Math.ceil(bytes / bytesPerToken);
  const partMax = Math.max(partTokensMin, partTokens - tokensOf(queryBytes));
  const parts = sizes.reduce((sum, bytes) => sum + Math.max(1, Math.ceil(tokensOf(bytes) / partMax)), 0);
  return Math.ceil(parts / documentsPerUnit);
}

// The documents of a request, measured in its text.

interface DocumentSizes {
  /** Bytes of each document. */
  readonly sizes: readonly number[];
  /** True if some documents are text and some are objects. */
  readonly isMixed: boolean;
}

/** Measures the documents. Throws invalid_request. */
function readDocuments(json: JsonText): DocumentSizes {
  const [documents, again] = json.members().filter(({ name }) => name === 'documents');
  if (again !== undefined) throw bad('stands twice');
  if (documents === undefined) throw bad('is missing');
  if (!json.isArray(documents.value)) throw bad('must be a list');
  const sizes: number[] = [];
  let texts = 0;
  for (const item of json.inside(documents.value)) {
    if (json.isString(item)) texts += 1;
    else if (!json.isObject(item)) throw bad('must hold texts or objects', `documents[${sizes.length}]`);
    sizes.push(Buffer.byteLength(json.slice(item)));
  }
  if (sizes.length === 0) throw bad('is empty');
  return { sizes, isMixed: texts > 0 && texts < sizes.length };
}
