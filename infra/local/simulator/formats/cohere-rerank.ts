// Implements both versions of Cohere's Rerank, and Bedrock's version, whose path is the same. The relevance of a
// document is the number of words that it shares with the query.
import { type SimulatedCompletion, usageMember } from '../answer.ts';
import type { Received, SimulatorCall } from '../call.ts';
import { type ModelRequest, plainRequest } from '../model-request.ts';
import { tokensOf } from '../tokens.ts';
import { wholeFormat } from './openai-whole.ts';

type RerankDocument = string | Readonly<Record<string, unknown>>;
interface CohereBody {
  readonly model: string;
  readonly query: string;
  readonly documents: readonly RerankDocument[];
  readonly top_n?: number | null;
  readonly return_documents?: boolean | null;
}

interface BedrockBody {
  readonly nextToken?: string;
  readonly queries: readonly [{ readonly textQuery: { readonly text: string } }];
  readonly sources: readonly {
    readonly inlineDocumentSource: {
      readonly textDocument?: { readonly text: string };
      readonly jsonDocument?: object;
    };
  }[];
  readonly rerankingConfiguration: {
    readonly bedrockRerankingConfiguration: {
      readonly modelConfiguration: { readonly modelArn: string };
      readonly numberOfResults?: number;
    };
  };
}

interface RerankInput {
  readonly model: string;
  readonly query: unknown;
  readonly documents: unknown;
  readonly count: number | undefined;
}

const isBedrock = (body: unknown): body is BedrockBody =>
  typeof body === 'object' && body !== null && 'queries' in body;

function inputOf(body: unknown): RerankInput {
  if (!isBedrock(body)) {
    const { model = 'rerank', query, documents, top_n: count } = (body ?? {}) as CohereBody;
    return { model, query, documents, count: count ?? undefined };
  }
  const { modelConfiguration, numberOfResults } = body.rerankingConfiguration.bedrockRerankingConfiguration;
  const documents = body.sources.map(({ inlineDocumentSource: { textDocument, jsonDocument } }) => {
    return textDocument?.text ?? jsonDocument;
  });
  const [, model = ''] = modelConfiguration.modelArn.split(':foundation-model/');
  return { model, query: body.queries[0].textQuery.text, documents, count: numberOfResults };
}

const documentsMax = 10_000;
const documentsPerUnit = 100;
/** Maximum number of results in an answer of Bedrock. */
const pageMax = 100;

function read({ body }: Received): ModelRequest | string {
  const { model, query, documents } = inputOf(body);
  if (typeof query !== 'string' || query === '') return 'invalid request: query must not be empty';
  if (!Array.isArray(documents) || documents.length === 0)
    return 'invalid request: list of documents must not be empty';
  if (documents.length > documentsMax) return `invalid request: at most ${documentsMax} documents are taken`;
  const texts = [query, ...documents.map(textOf)];
  return { ...plainRequest, model, turns: texts.map((text) => ({ role: 'user', text })) };
}

const textOf = (document: unknown): string =>
  typeof document === 'string' ? document : Object.values((document ?? {}) as object).join(' ');

const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(tokensOf(text.toLowerCase()).map((token) => token.replaceAll(/\W/g, '')));

interface RankedDocument {
  readonly index: number;
  readonly score: number;
}

/** Returns the results, the most relevant first. */
function rankOf(query: string, documents: readonly unknown[], count = documents.length): RankedDocument[] {
  const queryWords = wordsOf(query);
  const scoreOf = (document: unknown): number => {
    const words = wordsOf(textOf(document));
    return queryWords.intersection(words).size / queryWords.size;
  };
  const scored = documents.map((document, index) => ({ index, score: scoreOf(document) }));
  return scored.toSorted((a, b) => b.score - a.score).slice(0, count);
}

function json(call: SimulatorCall, completion: SimulatedCompletion): object {
  const { query, documents, count } = inputOf(call.body) as RerankInput & {
    readonly query: string;
    readonly documents: unknown[];
  };
  const ranked = rankOf(query, documents, count);
  if (isBedrock(call.body)) return bedrockPage(ranked, Number(call.body.nextToken ?? 0));
  const { return_documents: isShown } = call.body as CohereBody;
  return {
    id: completion.id,
    results: ranked.map(({ index, score }) => ({
      ...(isShown === true ? { document: { text: textOf(documents[index]) } } : {}),
      index,
      relevance_score: score,
    })),
    ...usageMember('meta', completion, ({ output }) => ({
      api_version: { version: '2' },
      // `usage:INPUT:UNITS` and wrong reports replace the count.
      billed_units: {
        search_units: /usage/.test(call.name) ? output : Math.ceil(documents.length / documentsPerUnit),
      },
    })),
  };
}

function bedrockPage(ranked: readonly RankedDocument[], from: number): object {
  const results = ranked.slice(from, from + pageMax).map(({ index, score }) => ({ index, relevanceScore: score }));
  const next = from + pageMax;
  return { results, ...(next < ranked.length ? { nextToken: String(next) } : {}) };
}

export const rerank = wholeFormat({
  name: 'rerank',
  path: /^\/rerank$/,
  answerMembers: ['results'],
  read,
  json,
});
