// Interfaces that some kinds of providers have in a form of their own, written by models of their packages: each answers
// whole, from a body that is read whole.
import type { Candidate } from '../../../configuration/catalogue/index.ts';
import type { InterfaceId } from '../../../foundation/constants/index.ts';
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

const images: Task = { run: imagesInParts, requests: imageRequests };
const tasks: Readonly<Partial<Record<InterfaceId, Task>>> = {
  embeddings: { run: embedInParts, requests: embeddingRequests },
  images,
  'image-edits': images,
  rerank: { run: rerankDocuments, requests: () => 1 },
};

/** Rejects where `send` does, or where the body breaks. */
export function runPackageTask(interfaceId: InterfaceId, ...asked: Parameters<RunTask>): Promise<CandidateOutcome> {
  return taskOf(interfaceId).run(...asked);
}

export async function requestsOfTask(interfaceId: InterfaceId, task: SplitTask): Promise<number> {
  return await taskOf(interfaceId).requests(task);
}

function taskOf(interfaceId: InterfaceId): Task {
  const task = tasks[interfaceId];
  if (task === undefined) throw new Error(`no package has a model for ${interfaceId}`);
  return task;
}
