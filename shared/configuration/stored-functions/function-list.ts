// Lists the functions of a workspace in one item, because records are found by their whole name only. The item is
// written after each record. If that write is lost, the next write of the function repeats it.
//
//   FUNCTIONS#<workspace>   id:<function>   the listed fields of the function, and the version of the record with them
import { createReadCache } from '../../foundation/cache/index.ts';
import { configFreshMs } from '../../foundation/constants/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { absent, atMost, type Item, or, type Store } from '../../storage/store/index.ts';
import type { FunctionRecord } from './function-record.ts';
import { wantedRevision } from './open-revision.ts';
import { isExpired } from './transitions.ts';

/** The fields of a function in a list. */
export interface ListedFunction {
  readonly id: string;
  readonly kind: FunctionRecord['kind'];
  readonly isEnabled: boolean;
  /** The revision that an unpinned call runs, if it was activated. Null: none. */
  readonly active: { readonly id: string; readonly expiresAtMs: number | null; readonly activatedAtMs: number } | null;
}

const listKey = (workspace: string): string => `FUNCTIONS#${workspace}`;
const attributePrefix = 'id:';

/**
 * Writes a function into the list. The write may be repeated, and in any sequence, because an older version never
 * replaces a newer version.
 */
export async function listFunction(
  store: Pick<Store, 'update'>,
  record: FunctionRecord,
  version: number,
): Promise<void> {
  const revision = wantedRevision(record, undefined);
  const active =
    revision?.state === 'activated'
      ? { id: revision.id, expires_at_ms: revision.expiresAtMs, activated_at_ms: revision.activatedAtMs ?? 0 }
      : null;
  const attribute = `${attributePrefix}${record.id}`;
  await store.update({
    table: 'functions',
    key: listKey(record.workspace),
    changes: { set: { [attribute]: { kind: record.kind, status: record.status, active, version } } },
    condition: or(absent(attribute), atMost([attribute, 'version'], version)),
    repeatable: true,
  });
}

const fromAttribute = ([name, value]: readonly [string, unknown]): ListedFunction[] => {
  if (!name.startsWith(attributePrefix)) return [];
  const { kind, status, active } = value as Item;
  const revision = active as Item | null;
  return [
    {
      id: name.slice(attributePrefix.length),
      kind: kind as ListedFunction['kind'],
      isEnabled: status === 'enabled',
      active: revision && {
        id: String(revision.id),
        expiresAtMs: revision.expires_at_ms as number | null,
        activatedAtMs: Number(revision.activated_at_ms),
      },
    },
  ];
};

/** True if an unpinned call would find a revision to run. */
export const isCallable = ({ isEnabled, active }: ListedFunction, nowMs: number): boolean =>
  isEnabled && active !== null && !isExpired(active, nowMs);

export interface FunctionList {
  /** Returns all functions of a workspace, by id; at most `configFreshMs` old. Throws StoreUnavailable. */
  functionsOf(workspace: string): Promise<readonly ListedFunction[]>;
}

/** Maximum number of cached lists, which have some hundred bytes for each function. */
const cachedListsMax = 200;

export function createFunctionList({
  store,
  clock,
}: {
  readonly store: Pick<Store, 'get'>;
  readonly clock: Clock;
}): FunctionList {
  const lists = createReadCache<readonly ListedFunction[]>({ sizeMax: cachedListsMax, freshMs: configFreshMs, clock });
  return {
    functionsOf: (workspace) =>
      lists.get(workspace, async () =>
        Object.entries((await store.get('functions', listKey(workspace))) ?? {})
          .flatMap(fromAttribute)
          .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      ),
  };
}
