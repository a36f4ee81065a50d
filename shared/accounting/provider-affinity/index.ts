// Which provider keeps what a later request may refer to: a response, a conversation, a prompt. An item of its own for each,
// because a later call may refer to any of them; like a span it is a name of a workspace for thirty days.
import { sha256Hex } from '../../foundation/ids/index.ts';
import type { CallOptions, Store } from '../../storage/store/index.ts';

const lifeSeconds = 30 * 24 * 60 * 60;

/** Both throw StoreUnavailable. Ids are as the provider gave them. */
export interface ProviderAffinity {
  /** Of the first id that is known. Undefined: none is. */
  find(workspace: string, ids: readonly string[], nowMs: number, options?: CallOptions): Promise<string | undefined>;
  /** May be repeated. */
  remember(
    workspace: string,
    ids: readonly string[],
    kept: { readonly provider: string; readonly nowMs: number },
    options?: CallOptions,
  ): Promise<void>;
}

export function createProviderAffinity(store: Pick<Store, 'get' | 'put'>): ProviderAffinity {
  return {
    async find(workspace, ids, nowMs, options = {}) {
      const items = await Promise.all(ids.map((id) => store.get('spans', keyOf(workspace, id), options)));
      const known = items.find((item) => item !== undefined && Number(item.expires_at_epoch_seconds) * 1_000 > nowMs);
      return known?.provider as string | undefined;
    },
    async remember(workspace, ids, { provider, nowMs }, options = {}) {
      const expires = { expires_at_epoch_seconds: Math.ceil(nowMs / 1_000) + lifeSeconds };
      const items = [...new Set(ids)].map((id) => ({ pk: keyOf(workspace, id), provider, ...expires }));
      await Promise.all(items.map((item) => store.put({ table: 'spans', item, repeatable: true }, options)));
    },
  };
}

/** What a client sends is no part of a table key. */
const keyOf = (workspace: string, id: string): string => `KEPT#${workspace}#${sha256Hex(id)}`;
