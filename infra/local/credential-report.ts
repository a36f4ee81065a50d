// Stores which provider credentials the latest gateway of this store found, for `gw status` and `gw providers`, because
// the variables of another shell may differ. The report contains names only. If it is lost, only these commands are
// affected.
import type { CheckedCredentials } from '../../shared/routing/providers/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';

const reportKey = 'CREDENTIALS';

export async function writeCredentialReport(store: Pick<Store, 'put'>, checked: CheckedCredentials): Promise<void> {
  await store.put({ table: 'statistics', item: { pk: reportKey, ...checked }, repeatable: true });
}

/** Returns undefined when no gateway has run on this store. */
export async function readCredentialReport(store: Pick<Store, 'get'>): Promise<CheckedCredentials | undefined> {
  const item = await store.get('statistics', reportKey);
  if (item === undefined) return undefined;
  return { present: item.present as readonly string[], missing: item.missing as readonly string[] };
}
