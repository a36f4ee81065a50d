// Remembers which provider stores objects that later requests refer to: a response, its items, a conversation, a
// prompt. Each object has a separate item, because a later call may refer to any of them; like a span, an item is valid
// within its workspace for thirty days.
import { createCache } from '../../foundation/cache/index.ts';
import { sha256Hex } from '../../foundation/ids/index.ts';
import { mapParallel } from '../../foundation/parallel/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import type { CallOptions, Store } from '../../storage/store/index.ts';

const lifeSeconds = 30 * 24 * 60 * 60;
/** Number of reads at a time, because a conversation may have hundreds of references. */
const readsAtOnce = 32;
/** Maximum number of ids that an instance remembers. The value of an id never changes. */
const knownMax = 20_000;

/** The account that stores an object, and the call that created the object. */
interface StateOwner {
  /** The provider's account, if it has several. */
  readonly provider: string;
  /** Catalogue id of the model. */
  readonly model?: string | undefined;
  /** True if the call was made with a key of the client's own. */
  readonly withOwnKey?: boolean | undefined;
}

interface StoredState extends StateOwner {
  /** True if a call of the workspace created the object, and did not only refer to it. */
  readonly isMade: boolean;
}

interface StateIds {
  /** Ids of objects that the call has created. */
  readonly newIds: readonly string[];
  /** Ids to which the call referred. */
  readonly referred?: readonly string[];
}

/** The memory; both calls throw StoreUnavailable. Ids are ids of the provider. */
export interface ProviderAffinity {
  /** Returns the owners in the order of the ids; undefined for unknown ones. */
  find(workspace: string, ids: readonly string[], options?: CallOptions): Promise<(StoredState | undefined)[]>;
  /** Remembers the owner. It may be repeated. */
  remember(workspace: string, ids: StateIds, stateOwner: StateOwner, options?: CallOptions): Promise<void>;
}

const table = 'spans' as const;
/** Stored attribute of objects that the workspace itself created. */
const creationMark = 'made';
/** Condition that keeps a created object marked as created, however often it is referred to. */
const isNotMade = { kind: 'absent', at: creationMark } as const;

interface Known extends StoredState {
  readonly untilMs: number;
}

export function createProviderAffinity(store: Pick<Store, 'get' | 'put' | 'batchPut'>, clock: Clock): ProviderAffinity {
  const known = createCache<Known>({ sizeMax: knownMax });

  async function read(key: string, options: CallOptions): Promise<Known | undefined> {
    const item = await store.get('spans', key, options);
    if (item === undefined) return undefined;
    const untilMs = Number(item.expires_at_epoch_seconds) * 1_000;
    const { model } = item as Pick<StateOwner, 'model'>;
    const stateOwner = { provider: String(item.provider), model, withOwnKey: item.own_key === true };
    return { ...stateOwner, isMade: item[creationMark] === true, untilMs };
  }

  return {
    find: (workspace, ids, options = {}) =>
      mapParallel(ids, readsAtOnce, async (id) => {
        const key = keyOf(workspace, id);
        const found = known.get(key) ?? (await read(key, options));
        if (found === undefined || found.untilMs <= clock.nowMs()) return undefined;
        if (found.isMade) known.set(key, found);
        return found;
      }),
    async remember(workspace, { newIds, referred = [] }, { provider, model, withOwnKey }, options = {}) {
      const attributes = {
        provider,
        ...(model === undefined ? {} : { model }),
        ...(withOwnKey === true ? { own_key: true } : {}),
        expires_at_epoch_seconds: Math.ceil(clock.nowMs() / 1_000) + lifeSeconds,
      };
      const itemOf = (id: string) => ({ pk: keyOf(workspace, id), ...attributes });
      const puts = [...new Set(newIds)].map((id) => ({ table, item: { ...itemOf(id), [creationMark]: true } }));
      await Promise.all([
        store.batchPut(puts, options),
        ...referred.map((id) =>
          store.put({ table, item: itemOf(id), condition: isNotMade, repeatable: true }, options),
        ),
      ]);
    },
  };
}

/** Returns the key, in which the id is hashed, because no client text is part of a table key. */
const keyOf = (workspace: string, id: string): string => `KEPT#${workspace}#${sha256Hex(id)}`;
