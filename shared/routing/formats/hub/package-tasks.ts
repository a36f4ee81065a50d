// Interfaces that some kinds of providers have in a form of their own, written by models of their packages: each answers
// whole, from a body that is read whole.
import type { Candidate } from '../../../configuration/catalogue/index.ts';
import type { InterfaceId } from '../../../foundation/constants/index.ts';
import type { CandidateOutcome, OpenPart } from '../../providers/index.ts';
import { embedInParts } from './embed-in-parts.ts';
import { imagesInParts } from './images-in-parts.ts';
import type { PackageTask } from './package-part.ts';
import { rerankDocuments } from './rerank-documents.ts';

type RunTask = (task: PackageTask, candidate: Candidate, openPart: OpenPart) => Promise<CandidateOutcome>;

const tasks: Readonly<Partial<Record<InterfaceId, RunTask>>> = {
  embeddings: embedInParts,
  images: imagesInParts,
  'image-edits': imagesInParts,
  rerank: rerankDocuments,
};

/** Rejects where `send` does, or where the body breaks. */
export function runPackageTask(interfaceId: InterfaceId, ...asked: Parameters<RunTask>): Promise<CandidateOutcome> {
  const run = tasks[interfaceId];
  if (run === undefined) throw new Error(`no package has a model for ${interfaceId}`);
  return run(...asked);
}
