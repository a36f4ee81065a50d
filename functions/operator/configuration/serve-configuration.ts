// GET and PUT /v1/manage/configuration: the gateway file of the store, and its replacement by the code with which the
// command line applies files. `dry_run=true` shows the changes of a replacement.
import { fail } from '../../../shared/errors/index.ts';
import { jsonHeaders } from '../../../shared/protocol/router/index.ts';
import { absent, atMost, equals, or, type Store } from '../../../shared/storage/store/index.ts';
import { type ManageRequest, namesOf, type RouteWork, TextAnswer } from '../request/manage.ts';
import { planReplacement, readStored } from './stored-configuration.ts';

/** Lambda gives an answer of 6 MB at the most. */
const answerMaxBytes = 5_500_000;

export const readConfiguration: RouteWork<'GET /configuration'> = async (deps, { headers: sent }) => {
  const { file, text, etag } = await readStored(deps);
  if (Buffer.byteLength(text) > answerMaxBytes) {
    throw fail('request_too_large', {
      message: 'The configuration is too large for one answer: read it with gw export.',
    });
  }
  const isJson = (sent.accept ?? []).some((one) => one.includes('application/json'));
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
  const wanted = ifMatch(request.headers);
  if (wanted === undefined && !isDry) {
    throw fail('precondition_failed', {
      message: 'If-Match is required: read GET /v1/manage/configuration, and send the ETag of its answer as If-Match.',
    });
  }
  const text = await request.body();
  if (isDry) {
    const { document, etag } = await planReplacement(deps, text, wanted);
    return new TextAnswer({ ...jsonHeaders, etag }, JSON.stringify({ data: document }));
  }
  const claim = { id: deps.randomness.uuid(), nowMs: deps.clock.nowMs() };
  const done = await asOnlyReplacement(deps.store, claim, async () => {
    const { replace } = await planReplacement(deps, text, wanted);
    return replace();
  });
  if (done === undefined) {
    throw fail('precondition_failed', {
      message: 'Another request is replacing the configuration at this moment: read it again.',
    });
  }
  const changed = done.document.changes.map(({ resource }) => resource);
  if (changed.length > 0) request.tellChange('configuration replaced', namesOf(changed));
  return new TextAnswer({ ...jsonHeaders, etag: done.etag }, JSON.stringify({ data: done.document }));
};

/** CloudFront weakens the tag of an answer that it compresses. */
const tagShape = /^(?:W\/)?("[\x21\x23-\x7e]*"|\*)$/;

/** Returns undefined when none was sent. */
function ifMatch(headers: ManageRequest<'PUT /configuration'>['headers']): readonly string[] | undefined {
  const sent = headers['if-match'];
  return sent?.flatMap((header) => header.split(',')).map((one) => tagShape.exec(one.trim())?.[1] ?? '');
}

// One replacement of the configuration at a time, over all processes: between its comparison with the store and its
// last write, no other one begins. A process that died meanwhile is waited for no longer than any request runs.

/** Key in `config`. */
const claimKey = 'CONFIGURATION_REPLACEMENT';
const claimLifeMs = 120_000;

/** Returns undefined when another replacement is running. */
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
    // The changes are made; where this write is lost, the claim expires.
    await store.put({ table: 'config', item: claim(0), ...writeOptions }).catch(() => undefined);
  }
}
