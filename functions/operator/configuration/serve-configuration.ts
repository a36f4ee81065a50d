// Serves GET and PUT /v1/manage/configuration: the gateway file of the store, and its replacement by the code with
// which the command line applies files. `dry_run=true` shows the changes of a replacement.

import { isRefusal } from '../../../shared/configuration/administration/index.ts';
import type { GatewayFilePlan, Problem } from '../../../shared/configuration/gateway-file/index.ts';
import type { Documents } from '../../../shared/configuration/management/index.ts';
import { fail } from '../../../shared/errors/index.ts';
import { sha256Hex } from '../../../shared/foundation/ids/index.ts';
import { jsonHeaders } from '../../../shared/protocol/router/index.ts';
import { absent, atMost, equals, or, type Store, StoreUnavailable } from '../../../shared/storage/store/index.ts';
import type { ManagementDependencies } from '../dependencies.ts';
import { type ManageRequest, namesOf, type RouteWork, TextAnswer } from '../request/manage.ts';

/** Maximum bytes of an answer, below the 6 MB that Lambda allows. */
const answerMaxBytes = 5_500_000;

export const readConfiguration: RouteWork<'GET /configuration'> = async (deps, { headers: requestHeaders }) => {
  const { file, text, etag } = await readStored(deps);
  if (Buffer.byteLength(text) > answerMaxBytes) {
    throw fail('request_too_large', {
      message: 'The configuration is too large for one answer: read it with gw export.',
    });
  }
  const isJson = (requestHeaders.accept ?? []).some((one) => one.includes('application/json'));
  const headers = { ...(isJson ? jsonHeaders : yamlHeaders), etag, 'cache-control': 'no-store' };
  return new TextAnswer(headers, isJson ? JSON.stringify({ data: file }) : text);
};

const yamlHeaders = {
  'content-type': 'application/yaml; charset=utf-8',
  'content-disposition': 'attachment; filename="gateway.yaml"',
  'x-content-type-options': 'nosniff',
};

export const replaceConfiguration: RouteWork<'PUT /configuration'> = async (deps, request) => {
  const isDry = request.query.dry_run === 'true';
  const tags = ifMatch(request.headers);
  if (tags === undefined && !isDry) {
    throw fail('precondition_failed', {
      message: 'If-Match is required: read GET /v1/manage/configuration, and send the ETag of its answer as If-Match.',
    });
  }
  const text = await request.body();
  if (isDry) {
    const { document, etag } = await planReplacement(deps, text, tags);
    return new TextAnswer({ ...jsonHeaders, etag }, JSON.stringify({ data: document }));
  }
  const claim = { id: deps.randomness.uuid(), nowMs: deps.clock.nowMs() };
  const done = await asOnlyReplacement(deps.store, claim, async () => {
    const { replace } = await planReplacement(deps, text, tags);
    return replace();
  });
  if (done === undefined) {
    throw fail('precondition_failed', {
      message: 'Another request is replacing the configuration at this moment: read it again.',
    });
  }
  const changedResources = done.document.changes.map(({ resource }) => resource);
  if (changedResources.length > 0) request.tellChange('configuration replaced', namesOf(changedResources));
  return new TextAnswer({ ...jsonHeaders, etag: done.etag }, JSON.stringify({ data: done.document }));
};

/** Matches a tag, also in its weak form, which CloudFront writes if it compresses the answer. */
const tagShape = /^(?:W\/)?("[\x21\x23-\x7e]*"|\*)$/;

/** Returns the tags of the If-Match header; undefined if the request has no such header. */
function ifMatch(headers: ManageRequest<'PUT /configuration'>['headers']): readonly string[] | undefined {
  const tags = headers['if-match'];
  return tags?.flatMap((header) => header.split(',')).map((one) => tagShape.exec(one.trim())?.[1] ?? '');
}

// Allows one replacement of the configuration at a time, over all processes. No other replacement begins between a
// replacement's comparison with the store and its last write. If a process dies during a replacement, its claim expires
// after the longest time that a request may take.

/** Key of the claim in the table `config`. */
const claimKey = 'CONFIGURATION_REPLACEMENT';
const claimLifeMs = 120_000;

/** Returns undefined if another replacement is running. */
async function asOnlyReplacement<Answer>(
  store: Pick<Store, 'put'>,
  { id, nowMs }: { readonly id: string; readonly nowMs: number },
  work: () => Promise<Answer>,
): Promise<Answer | undefined> {
  const claim = (endsAtMs: number) => ({ pk: claimKey, claimed_by: id, ends_at_ms: endsAtMs });
  const { kind } = await store.put({
    table: 'config',
    item: claim(nowMs + claimLifeMs),
    condition: or(absent('pk'), atMost('ends_at_ms', nowMs), equals('claimed_by', id)),
    repeatable: true,
  });
  if (kind !== 'written') return undefined;
  try {
    return await work();
  } finally {
    const writeOptions = { condition: equals('claimed_by', id), repeatable: true };
    // The changes are made at this point. If this write fails, the claim expires.
    await store.put({ table: 'config', item: claim(0), ...writeOptions }).catch(() => undefined);
  }
}

// Shows the configuration as one document with a tag that every change of the document changes, and makes the changes
// of a replacement. The catalogue is replaced only if the stored catalogue has not changed since it was read. In all
// other parts only the differences of the new file are written.

/** Loads a YAML parser and the list of models, for requests that read or replace the whole configuration. */
const loadGatewayFile = () => import('../../../shared/configuration/gateway-file/index.ts');
type Replacement = Documents['ManagedReplacement'];
type GatewayFileModule = Awaited<ReturnType<typeof loadGatewayFile>>;

interface Replaced {
  readonly document: Replacement;
  /** Tag of the configuration after the replacement. */
  readonly etag: string;
}

interface PlannedReplacement extends Replaced {
  replace(): Promise<Replaced>;
}

async function readStored(deps: ManagementDependencies) {
  const { exportGatewayFile, gatewayFileText } = await loadGatewayFile();
  const catalogue = await deps.catalogues.read();
  const { file, notes } = await exportGatewayFile(deps, catalogue);
  const text = [...notes.map((note) => `# ${note}\n`), gatewayFileText(file)].join('');
  return { catalogue, file, text, etag: `"${sha256Hex(text)}"` };
}

/**
 * Compares the file with the store. The stored configuration must have one of the tags in `wanted`; undefined for any.
 * Throws precondition_failed or invalid_request.
 */
async function planReplacement(
  deps: ManagementDependencies,
  text: string,
  wanted: readonly string[] | undefined,
): Promise<PlannedReplacement> {
  const { catalogue, text: storedText, etag } = await readStored(deps);
  if (wanted !== undefined && !wanted.includes(etag) && !wanted.includes('*')) throw fail('precondition_failed');
  const module = await loadGatewayFile();
  const read = await module.readWithList(text);
  if (!read.ok) throw failPublication(module, read.problems);
  const storedFile = module.readGatewayFile(storedText);
  const plan = await module
    .planGatewayFile({
      file: read.file,
      lineOf: read.lineOf,
      // A stored value that cannot be parsed, for example a value of a former release, counts as different.
      readBefore: {
        file: storedFile.ok ? storedFile.file : { ...read.file, workspaces: [], access: undefined },
        catalogue,
      },
      stores: deps,
      randomness: deps.randomness,
      nowMs: deps.clock.nowMs(),
    })
    .catch((error: unknown) => {
      throw error instanceof module.GatewayFileRefused ? failPublication(module, error.problems) : error;
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

/** Maximum number of faults of a file that are listed. */
const problemsShown = 20;

function failPublication({ formatProblem }: GatewayFileModule, problems: readonly Problem[]) {
  const lines = problems.slice(0, problemsShown).map((problem) => formatProblem(problem, 'the file'));
  const rest = problems.length > problemsShown ? `; and ${problems.length - problemsShown} more` : '';
  const param = problems[0]?.path === '' ? undefined : problems[0]?.path;
  return fail('invalid_request', { message: `${lines.join('; ')}${rest}`, param });
}

/** If the store refuses a write with a text for the operator, other operators have made changes meanwhile. */
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
