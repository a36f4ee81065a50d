// Reads, plans, writes; and again where another write came in between. Contents are written first: a record never names
// a missing one. The former content of a draft stays, some kilobytes that no record names: deleting it could remove
// content that another write has just named again.
import { canonicalJson } from '../../foundation/ids/index.ts';
import { absent, equals, type Store, writeOptimistically } from '../../storage/store/index.ts';
import { listFunction } from './function-list.ts';
import type { FunctionRecord } from './function-record.ts';
import { fromItem, functionKey, toItem, versionOf } from './function-record.ts';
import type { ApplyPlan } from './plan-apply.ts';
import { contentPut } from './revision-content.ts';

export type FunctionWriteOutcome = 'created' | 'changed' | 'unchanged';

interface WrittenFunction {
  readonly record: FunctionRecord;
  readonly change: FunctionWriteOutcome;
}

/** `plan` throws to refuse. Throws WriteRefused when other writes keep coming in between. */
export function writeFunction(
  store: Pick<Store, 'get' | 'put' | 'update'>,
  workspace: string,
  id: string,
  plan: (former: FunctionRecord | undefined) => ApplyPlan,
): Promise<WrittenFunction> {
  return writeOptimistically(`function ${id} of ${workspace} is`, async () => {
    const item = await store.get('functions', functionKey(workspace, id));
    const former = item === undefined ? undefined : fromItem(item);
    const { record, newTexts } = plan(former);
    const change = changeOf(former, record);
    if (change === 'unchanged') {
      // Its last write may not have reached the list.
      await listFunction(store, record, versionOf(item));
      return { record, change };
    }
    for (const text of newTexts) await store.put(await contentPut(record, text));
    const version = versionOf(item);
    const result = await store.put({
      table: 'functions',
      item: toItem(record, version + 1),
      condition: item === undefined ? absent('pk') : equals('version', version),
    });
    if (result.kind !== 'written') return undefined;
    await listFunction(store, record, version + 1);
    return { record, change };
  });
}

export function changeOf(former: FunctionRecord | undefined, next: FunctionRecord): FunctionWriteOutcome {
  if (former === undefined) return 'created';
  return canonicalJson(toItem(former, 0)) === canonicalJson(toItem(next, 0)) ? 'unchanged' : 'changed';
}
