// Calls models of the AI SDK that serve an interface at providers with their own format. Each model returns a whole
// answer, from a body that was read whole.
import type { Candidate } from '../../../configuration/catalogue/index.ts';
import { type ClientInterface, plainGatewayMembers } from '../../../protocol/interfaces/index.ts';
import { isJsonObject, type JsonObject } from '../../../protocol/wire/index.ts';
import type { AttemptFailure, CandidateOutcome, NoAnswer, OpenPart } from '../../providers/index.ts';
import { embeddingRequests, embedInParts } from './embed-in-parts.ts';
import { imageRequestCount, imagesInParts } from './images-in-parts.ts';
import { openPackagePart, type PackageTask, type SplitTask } from './package-part.ts';
import type { RankedDocument, RerankedDocuments } from './targets/hub-target.ts';
import { loadTarget } from './targets/index.ts';

/** Maximum number of answers that deliver one ranking. A provider lists a hundred documents or more in each answer. */
const pagesMax = 32;

const knownMembers: readonly string[] = ['model', 'query', 'documents', 'top_n', ...plainGatewayMembers];
/** Fields that need no translation. For a value with an effect the planner skips the candidate. */
const emptyMembers: readonly string[] = [
  'max_tokens_per_doc',
  'max_chunks_per_doc',
  'return_documents',
  'rank_fields',
  'relevant_spans',
];

const plainText = (document: unknown): string | undefined =>
  isJsonObject(document) && typeof document.text === 'string' && Object.keys(document).length === 1
    ? document.text
    : undefined;

const nothingReported = { usage: undefined, outputBytes: 0 };
const failed = (failure: AttemptFailure): NoAnswer => ({ kind: 'failure', failure });

/** Marks the failure as charged if earlier answers are paid for. */
const withPaid = ({ failure }: NoAnswer, isPaid: boolean): NoAnswer =>
  failed(isPaid ? { ...failure, unusedAnswer: nothingReported } : failure);

type RunTask = (task: PackageTask, candidate: Candidate, openPart: OpenPart) => Promise<CandidateOutcome>;

interface Task {
  readonly run: RunTask;
  /** Returns the number of concurrent requests of the provider. */
  readonly requests: (task: SplitTask) => number | Promise<number>;
}

const tasks: Readonly<Record<NonNullable<ClientInterface['packageModels']>, Task>> = {
  embedding: { run: embedInParts, requests: embeddingRequests },
  image: { run: imagesInParts, requests: imageRequestCount },
  reranking: { run: rerankDocuments, requests: () => 1 },
};

/** Runs the task. Rejects if `send` does, or if the body breaks. */
export const runPackageTask = (
  clientInterface: ClientInterface,
  ...call: Parameters<RunTask>
): Promise<CandidateOutcome> => taskOf(clientInterface).run(...call);

export const requestsOfTask = async (clientInterface: ClientInterface, task: SplitTask): Promise<number> =>
  taskOf(clientInterface).requests(task);

function taskOf({ id, packageModels }: ClientInterface): Task {
  if (packageModels === undefined) throw new Error(`no package has a model for ${id}`);
  return tasks[packageModels];
}

// Reranks documents through a package. The provider delivers the ranking in several answers, which become one answer in
// the client's format.

async function rerankDocuments(
  { api, body, id, size, readAnswer }: PackageTask,
  candidate: Candidate,
  openPart: OpenPart,
): Promise<CandidateOutcome> {
  const { rerankingModels, ...target } = await loadTarget(api);
  if (rerankingModels === undefined) throw new Error(`the package of ${api} reranks nothing`);
  const documents = documentsOf(body.documents as readonly unknown[]);
  const count = documents.values.length;
  const topN = Math.min((body.top_n ?? count) as number, count);
  const ranked: RankedDocument[] = [];
  let next: string | undefined;
  for (let page = 0; page < pagesMax && (page === 0 || next !== undefined); page += 1) {
    const { exchange, keepAnswer, failureOf } = openPackagePart(openPart, { target, sentTo: rerankingModels });
    const options = { query: body.query as string, documents, topN, ...rerankingModels.pageOptions(next) };
    const settings = { model: candidate.entry.upstream_model, ...exchange.settings };
    try {
      const { ranking, response } = await rerankingModels.openModel(settings, candidate.provider).doRerank(options);
      ranked.push(...ranking);
      next = rerankingModels.nextPage(response?.body);
      keepAnswer('text');
    } catch (error) {
      return withPaid(failureOf(error), page > 0);
    }
  }
  const isWhole =
    next === undefined && ranked.every(({ index }) => Number.isInteger(index) && index >= 0 && index < count);
  if (!isWhole) return failed({ kind: 'failed', cause: 'unreadable_answer', unusedAnswer: nothingReported });
  const read = await readAnswer(answerText(id, ranked.slice(0, topN), size.usualUnits?.requests ?? 1));
  if (read.kind !== 'answer')
    return failed({ kind: 'failed', cause: 'answer_too_large', unusedAnswer: nothingReported });
  const leftOut = Object.keys(body).filter((name) => !knownMembers.includes(name) && !emptyMembers.includes(name));
  // The usage in `read` is only an estimate.
  return { kind: 'json', answer: { ...read.answer, usage: undefined }, reachedVia: { format: 'rerank', leftOut } };
}

/** Returns the documents. Objects that contain only text become strings. */
function documentsOf(documents: readonly unknown[]): RerankedDocuments {
  const values = documents.map((document) => plainText(document) ?? document);
  return values.every((value) => typeof value === 'string')
    ? { type: 'text', values }
    : { type: 'object', values: documents as JsonObject[] as never };
}

function answerText(id: string, ranked: readonly RankedDocument[], searches: number): string {
  const results = ranked.map(({ index, relevanceScore }) => ({ index, relevance_score: relevanceScore }));
  const billed_units = { search_units: searches };
  return JSON.stringify({ id, results, meta: { api_version: { version: '2' }, billed_units, estimated: true } });
}
