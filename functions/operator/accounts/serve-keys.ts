// GET and POST /v1/manage/keys, PATCH /v1/manage/keys/{public_id}: API keys in the words of the gateway file. Only the answer that
// makes a key has its text.
import * as z from 'zod/mini';
import {
  createKey,
  id,
  type KeyFigures,
  keyChangesSchema,
  newKeySchema,
  readKey,
  readKeyFigures,
  updateKey,
} from '../../../shared/configuration/administration/index.ts';
import { fromWrittenKey, writtenKey } from '../../../shared/configuration/keys/index.ts';
import type { ManagedKey } from '../../../shared/configuration/management-documents/index.ts';
import { formatUsd, type PicoUsd, parseUsd } from '../../../shared/foundation/money/index.ts';
import { collect, mapParallel, parallelReads } from '../../../shared/foundation/parallel/index.ts';
import type { Work } from '../request/manage.ts';
import { pageOf, pageParameters } from '../request/pages.ts';
import { readBody, readQuery } from '../request/read-asked.ts';

const parameters = z.strictObject({ ...pageParameters, workspace: z.optional(id) });

export const listKeys: Work = async (deps, request) => {
  const { workspace, ...page } = readQuery(request, parameters);
  const all = await collect(deps.keys.list());
  const records = all.filter((record) => workspace === undefined || record.workspace === workspace);
  const { items, next_cursor } = pageOf(records, page, (key) => [key.workspace, key.name, key.publicId]);
  const figures = await mapParallel(items, parallelReads, (record) => readKeyFigures(deps, record));
  return { data: figures.map(keyDocument), next_cursor };
};

export const makeKey: Work = async (deps, request) => {
  const { workspace, ...written } = await readBody(request, newKeySchema);
  const { publicId, text } = await createKey(deps, { ...changesOf(written), workspace, name: written.name });
  request.tellChange('key created', `${workspace}/${publicId}`);
  return { data: { ...keyDocument(await readKeyFigures(deps, await readKey(deps, publicId))), key: text } };
};

export const changeKey: Work = async (deps, request) => {
  const [publicId = ''] = request.pathParameters;
  const { status, ...written } = await readBody(request, keyChangesSchema);
  const before = await readKey(deps, publicId);
  const changes = { ...changesOf(written), ...(status === undefined ? {} : { status }) };
  const { change, key } = await updateKey(deps, publicId, changes);
  const statusChange = status === 'revoked' ? 'key revoked' : 'key activated';
  const what = status === undefined || status === before.status ? 'key changed' : statusChange;
  if (change !== 'unchanged') request.tellChange(what, `${before.workspace}/${publicId}`);
  return { data: keyDocument(key) };
};

type Written = Omit<z.output<typeof newKeySchema>, 'workspace' | 'name'> & { readonly name?: string | undefined };

function changesOf({ spend_limit_usd: limit, ...written }: Written) {
  const spend_limit_usd = typeof limit === 'string' ? formatUsd(parseUsd(limit) ?? 0n) : limit;
  const { status: _status, ...changes } = fromWrittenKey({ ...written, spend_limit_usd });
  return changes;
}

const amountOf = (amount: PicoUsd | null): string | null => (amount === null ? null : formatUsd(amount));

/** No more of a key than its public id. Spending is counted on keys that have a limit. */
export const keyDocument = (key: KeyFigures): ManagedKey => ({
  public_id: key.publicId,
  workspace: key.workspace,
  ...writtenKey(key),
  spent_usd: amountOf(key.spent),
  held_usd: amountOf(key.held),
  replaced_by: key.replacedBy,
});
