// Models of the AI SDK that serve an interface at providers with a form of their own: each answers
// whole, from a body that is read whole.
import type { Candidate } from '../../../configuration/catalogue/index.ts';
import type { ClientInterface } from '../../../protocol/interfaces/index.ts';
import type { CandidateOutcome, OpenPart } from '../../providers/index.ts';
import { embeddingRequests, embedInParts } from './embed-in-parts.ts';
import { imageRequests, imagesInParts } from './images-in-parts.ts';
import type { PackageTask, SplitTask } from './package-part.ts';
import { rerankDocuments } from './rerank-documents.ts';

type RunTask = (task: PackageTask, candidate: Candidate, openPart: OpenPart) => Promise<CandidateOutcome>;

interface Task {
  readonly run: RunTask;
  /** Concurrent requests of the provider. */
  readonly requests: (task: SplitTask) => number | Promise<number>;
}

const tasks: Readonly<Record<NonNullable<ClientInterface['packageModels']>, Task>> = {
  embedding: { run: embedInParts, requests: embeddingRequests },
  image: { run: imagesInParts, requests: imageRequests },
  reranking: { run: rerankDocuments, requests: () => 1 },
};

/** Rejects where `send` does, or where the body breaks. */
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
