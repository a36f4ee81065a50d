// A separate process on a folder: `transfer` moves a unit from one item to another, both in one turn, and prints each
// answered number; `count` adds to one item as long as its limit allows, and prints how often it did.
import { openSqliteStore } from '../../../shared/storage/sqlite-store/index.ts';

const [task, folder = '', limit = '0'] = process.argv.slice(2);
const { store, close } = await openSqliteStore({ folder });
const add = (key: string, n: number) => store.update({ table: 'ledger', key, changes: { add: { n } } });

if (task === 'transfer') {
  const lane = async (name: string) => {
    for (let moveIndex = 1; ; moveIndex += 1) {
      await Promise.all([
        add('from', -1),
        add('to', 1),
        store.put({ table: 'records', item: { pk: name, sk: String(moveIndex), text: 'x'.repeat(500) } }),
      ]);
      process.stdout.write(`${name} ${moveIndex}\n`);
    }
  };
  await Promise.all(['a', 'b', 'c', 'd'].map(lane));
} else {
  let addedCount = 0;
  const condition = { kind: 'not', of: { kind: 'atLeast', at: 'n', value: Number(limit) } } as const;
  const lane = async () => {
    for (;;) {
      const { kind } = await store.update({ table: 'ledger', key: 'shared', changes: { add: { n: 1 } }, condition });
      if (kind === 'refused') return;
      addedCount += 1;
    }
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  await close();
  process.stdout.write(`${addedCount}\n`);
}
