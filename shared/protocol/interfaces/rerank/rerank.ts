// The interface of reranking, in Cohere's form: a query and documents in, their order with scores out.
import * as z from 'zod/mini';
import { isJsonObject, type JsonObject, type JsonText, toCount, type UsageReport } from '../../wire/index.ts';
import { plainMembers, type RelayedInput, readListAnswer, relayedInterface, withCostHeader } from '../index.ts';
import { readDocuments } from './document-sizes.ts';
import { searchUnits } from './search-units.ts';

const count = z.nullish(z.int().check(z.minimum(1)));
export const rerankSchema = z.looseObject({
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
  schema: rerankSchema,
  // Thousands of documents are measured in the text.
  unparsedName: 'documents',
  promptMember: 'documents',
  readInput,
  readAnswer: (text) => readListAnswer(text, { list: 'results', usage: 'meta', readUsage }),
  writeAnswer: withCostHeader,
});

/** English text is about four bytes a token in every common tokenizer. */
const usualBytesPerToken = 4;

/** Options that Bedrock's reranking has no words for, where they ask for something. */
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
  const asked = optionNames.filter((name) => (raw[name] ?? false) !== false);
  return {
    // Each document has the context of the model to itself.
    size: { contexts: sizes.length, units: unitsAt(1), usualUnits: unitsAt(usualBytesPerToken) },
    promptBytes: longest + queryBytes,
    hubNeeds: [
      ...asked.map((member) => ({ kind: member, member }) as const),
      ...(isMixed ? [{ kind: 'mixed_documents', member: 'documents' } as const] : []),
    ],
  };
}

/** Cohere reports searches, other hosts tokens too. */
function readUsage(meta: unknown): UsageReport | undefined {
  const billed = isJsonObject(meta) ? meta.billed_units : undefined;
  if (!isJsonObject(billed)) return undefined;
  const tokens = { cached: 0, cacheWrite: 0, cacheWrite1h: 0, reasoning: 0 };
  return {
    tokens: { ...tokens, input: toCount(billed.input_tokens), output: toCount(billed.output_tokens) },
    requests: toCount(billed.search_units),
    members: billed,
  };
}
