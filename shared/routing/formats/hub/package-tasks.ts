// Models of the AI SDK that serve an interface at providers with a form of their own: each answers
// whole, from a body that is read whole.
import type { Candidate } from '../../../configuration/catalogue/index.ts';
import type { ClientInterface } from '../../../protocol/interfaces/index.ts';
import type { CandidateOutcome, OpenPart } from '../../providers/index.ts';
import { embedInParts } from './embed-in-parts.ts';
import { imagesInParts } from './images-in-parts.ts';
import type { PackageTask } from './package-part.ts';
import { rerankDocuments } from './rerank-documents.ts';

type RunTask = (task: PackageTask, candidate: Candidate, openPart: OpenPart) => Promise<CandidateOutcome>;

const tasks: Readonly<Record<NonNullable<ClientInterface['packageModels']>, RunTask>> = {
  embedding: embedInParts,
  image: imagesInParts,
  reranking: rerankDocuments,
};

/** Rejects where `send` does, or where the body breaks. */
export function runPackageTask(
  { id, packageModels }: ClientInterface,
  ...call: Parameters<RunTask>
): Promise<CandidateOutcome> {
  if (packageModels === undefined) throw new Error(`no package has a model for ${id}`);
  return tasks[packageModels](...call);
}
