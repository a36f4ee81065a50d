// The configuration as one document: the stored one, with a tag that each change of it changes, and the changes of a
// replacement. The catalogue is replaced only where it is still the one that was read; elsewhere only the differences
// of the new file are written.
import { isRefusal } from '../../../shared/configuration/administration/index.ts';
import type { GatewayFilePlan, Problem } from '../../../shared/configuration/gateway-file/index.ts';
import type { Documents } from '../../../shared/configuration/management/index.ts';
import { fail } from '../../../shared/errors/index.ts';
import { sha256Hex } from '../../../shared/foundation/ids/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import type { ManagementDependencies } from '../dependencies.ts';

/** Loads a reader of YAML and the list of models, for requests that read or replace the whole configuration. */
const loadGatewayFile = () => import('../../../shared/configuration/gateway-file/index.ts');
type Replacement = Documents['ManagedReplacement'];
type GatewayFileModule = Awaited<ReturnType<typeof loadGatewayFile>>;

interface Replaced {
  readonly document: Replacement;
  /** Tag of the configuration afterwards. */
  readonly etag: string;
}

interface PlannedReplacement extends Replaced {
  replace(): Promise<Replaced>;
}

export async function readStored(deps: ManagementDependencies) {
  const { exportGatewayFile, gatewayFileText } = await loadGatewayFile();
  const catalogue = await deps.catalogues.read();
  const { file, notes } = await exportGatewayFile(deps, catalogue);
  const text = [...notes.map((note) => `# ${note}\n`), gatewayFileText(file)].join('');
  return { catalogue, file, text, etag: `"${sha256Hex(text)}"` };
}

/**
 * `wanted`: tags one of which the stored configuration must have; undefined for any. Throws precondition_failed or
 * invalid_request.
 */
export async function planReplacement(
  deps: ManagementDependencies,
  text: string,
  wanted: readonly string[] | undefined,
): Promise<PlannedReplacement> {
  const { catalogue, text: storedText, etag } = await readStored(deps);
  if (wanted !== undefined && !wanted.includes(etag) && !wanted.includes('*')) throw fail('precondition_failed');
  const module = await loadGatewayFile();
  const read = await module.readWithList(text);
  if (!read.ok) throw refused(module, read.problems);
  const stored = module.readGatewayFile(storedText);
  const plan = await module
    .planGatewayFile({
      file: read.file,
      lineOf: read.lineOf,
      // A stored value that cannot be read, as a former release may have stored it, counts as different.
      readBefore: { file: stored.ok ? stored.file : { ...read.file, workspaces: [], access: undefined }, catalogue },
      stores: deps,
      randomness: deps.randomness,
      nowMs: deps.clock.nowMs(),
    })
    .catch((error: unknown) => {
      throw error instanceof module.GatewayFileRefused ? refused(module, error.problems) : error;
    });
  return {
    document: replacementDocument(module, plan, []),
    etag,
    async replace() {
      const { createdKeys } = await plan.apply().catch((error: unknown) => {
        throw interrupted(module, error);
      });
      return { document: replacementDocument(module, plan, createdKeys), etag: (await readStored(deps)).etag };
    },
  };
}

const replacementDocument = (
  { destructiveChanges, restoredKeys }: GatewayFileModule,
  { changes, filled, notes }: GatewayFilePlan,
  created_keys: Replacement['created_keys'],
): Replacement => ({
  changes: changes.flatMap(({ resource, change, members }) =>
    change === 'unchanged' ? [] : [{ resource, change, members: [...members] }],
  ),
  filled: filled.map(({ place, origin, members }) => ({ place, origin, members: { ...members } })),
  takes_away: destructiveChanges(changes),
  brings_back: restoredKeys(changes),
  notes: [...notes],
  created_keys,
});

/** Number of faults of a file that are listed. */
const problemsShown = 20;

function refused({ formatProblem }: GatewayFileModule, problems: readonly Problem[]) {
  const lines = problems.slice(0, problemsShown).map((problem) => formatProblem(problem, 'the file'));
  const rest = problems.length > problemsShown ? `; and ${problems.length - problemsShown} more` : '';
  const param = problems[0]?.path === '' ? undefined : problems[0]?.path;
  return fail('invalid_request', { message: `${lines.join('; ')}${rest}`, param });
}

/** A store's refusal with a text for the operator means that others made changes meanwhile. */
function interrupted({ ApplyInterrupted, ChangedMeanwhile }: GatewayFileModule, error: unknown): unknown {
  if (!(error instanceof ApplyInterrupted)) return error;
  const { cause, report } = error;
  if (cause instanceof ChangedMeanwhile) return fail('precondition_failed', { cause: error });
  const done = report.changes.filter(({ change }) => change !== 'unchanged').map(({ resource }) => resource);
  const advice = `read the configuration again, and send the rest; what was changed before it failed: ${done.join(', ') || 'nothing'}`;
  if (cause instanceof StoreUnavailable) {
    return fail('RATE_LIMITER_UNAVAILABLE', { message: `The store gave no answer: ${advice}.`, cause: error });
  }
  if (!isRefusal(cause)) return error;
  return fail('precondition_failed', { message: `${cause.message}: ${advice}.`, cause: error });
}
