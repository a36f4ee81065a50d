// A store that asks the real one once for each shape of a call and then answers from memory: what is left of a call is
// the gateway itself. Good for calls that are alike and for some seconds, since what it remembers grows old.
import type { ConditionalResult, Store } from '../../../shared/storage/store/index.ts';

export interface RememberingStore extends Store {
  /** Calls that went to the real store. */
  readonly asked: () => number;
}

export function rememberAnswers(real: Store): RememberingStore {
  const answers = new Map<string, unknown>();
  let asked = 0;

  async function answer<Value>(shape: string, ask: () => Promise<Value>): Promise<Value> {
    if (answers.has(shape)) return answers.get(shape) as Value;
    asked += 1;
    const first = await ask();
    // A refusal is about one moment: remembered, it would be one for ever.
    if ((first as ConditionalResult | undefined)?.kind !== 'refused') answers.set(shape, first);
    return first;
  }

  return {
    get: (table, key, options) => answer(`get ${table} ${key}`, () => real.get(table, key, options)),
    put: (put, options) => answer(`put ${put.table}`, () => real.put(put, options)),
    // What the write does, whichever owner, bucket or shard it is for.
    update: (update, options) =>
      answer(`update ${update.table} ${update.expression} ${update.condition}`, () => real.update(update, options)),
    batchPut: (puts, options) => answer(`batch ${puts[0]?.table}`, () => real.batchPut(puts, options)),
    delete: (table, key, options) => answer(`delete ${table}`, () => real.delete(table, key, options)),
    scan: (table, options) => real.scan(table, options),
    query: (table, key, options) => real.query(table, key, options),
    asked: () => asked,
  };
}
