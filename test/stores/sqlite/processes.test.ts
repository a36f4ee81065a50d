// Several processes on one folder, and processes that are killed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from '#jest';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type FolderStore, fileOf, integrityOf, openFolder } from './support.ts';

const program = join(import.meta.dirname, 'writing-process.ts');
const start = (...args: string[]): ChildProcess =>
  spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });

async function linesOf(child: ChildProcess): Promise<string[]> {
  let text = '';
  child.stdout?.on('data', (part: Buffer) => {
    text += part.toString();
  });
  await once(child, 'close');
  // A line that the kill cut short was not answered.
  return text.split('\n').slice(0, -1);
}

describe('a counter with a limit', () => {
  it('is filled by three processes to the unit, and no addition is lost', async () => {
    const folder = temporaryFolder();
    const limit = 1_500;
    const children = Array.from({ length: 3 }, () => start('count', folder, String(limit)));
    const counts = await Promise.all(children.map(async (child) => Number((await linesOf(child)).at(-1))));
    expect(counts.reduce((sum, each) => sum + each)).toBe(limit);
    const { store, close } = await openFolder({ folder });
    expect((await store.get('ledger', 'shared'))?.n).toBe(limit);
    await close();
  });
});

describe('a process that is killed while it writes', () => {
  it('leaves a file that opens whole: each turn is there or not, and what was answered is', async () => {
    const folder = temporaryFolder();
    const movedCounts = new Map<string, number>();
    let records = 0;
    // Each round is killed after another number of answers, so that it meets another moment.
    for (const answersBeforeKill of [1, 60, 400, 1_500]) {
      const child = start('transfer', folder);
      let answers = 0;
      child.stdout?.on('data', (part: Buffer) => {
        answers += part.toString().split('\n').length - 1;
        if (answers >= answersBeforeKill) child.kill('SIGKILL');
      });
      const lines = await linesOf(child);
      expect(lines.length).toBeGreaterThanOrEqual(answersBeforeKill);
      for (const line of lines) {
        const [lane = '', number] = line.split(' ');
        movedCounts.set(lane, Math.max(movedCounts.get(lane) ?? 0, Number(number)));
      }
      records += lines.length;

      expect(integrityOf(folder)).toBe('ok');
      const { store, close } = await openFolder({ folder });
      const [from, to] = [await store.get('ledger', 'from'), await store.get('ledger', 'to')];
      expect(Number(from?.n) + Number(to?.n)).toBe(0);
      // The process may have written some whose answers nobody read.
      expect(Number(to?.n)).toBeGreaterThanOrEqual(records);
      for (const [lane, last] of movedCounts)
        expect(await store.get('records', lane, { sortKey: String(last) })).toBeDefined();
      await close();
    }
  });
});

describe('a file that another process has locked', () => {
  let test: FolderStore;
  let clock: ManualClock;
  let other: DatabaseSync;
  beforeEach(async () => {
    clock = manualClock();
    test = await openFolder({ clock });
    await test.store.put({ table: 'keys', item: { pk: 'k', n: 1 } });
    other = new DatabaseSync(fileOf(test.folder));
    other.exec('BEGIN IMMEDIATE');
  });
  afterEach(async () => {
    other.close();
    await test.close();
  });

  const turns = async (count: number) => {
    for (let turn = 0; turn < count; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
  };
  const addOne = () => test.store.update({ table: 'keys', key: 'k', changes: { add: { n: 1 } } });
  const advance = async (byMs: number) => {
    for (let ms = 0; ms < byMs; ms += 1) {
      clock.advance(1);
      await turns(1);
    }
  };

  it('is waited for by writes, while reads are answered and the loop turns', async () => {
    let isAnswered = false;
    const write = addOne().finally(() => {
      isAnswered = true;
    });
    await advance(300);
    expect(isAnswered).toBe(false);
    expect((await test.store.get('keys', 'k'))?.n).toBe(1);
    other.exec('ROLLBACK');
    await advance(10);
    expect(await write).toMatchObject({ kind: 'written', item: { n: 2 } });
  });

  it('gathers what is asked for meanwhile, into one transaction', async () => {
    const first = addOne();
    await advance(100);
    const second = addOne();
    other.exec('ROLLBACK');
    await advance(10);
    expect((await Promise.all([first, second])).map(({ item }) => item?.n)).toEqual([2, 3]);
  });

  it('for more than 800 ms is StoreUnavailable, and the write is not made later', async () => {
    const late = addOne().catch((error: unknown) => error);
    await advance(400);
    const inTime = addOne();
    await advance(430);
    expect(await late).toBeInstanceOf(StoreUnavailable);
    other.exec('ROLLBACK');
    await advance(10);
    expect(await inTime).toMatchObject({ item: { n: 2 } });
  });

  it('is not waited for by a caller that has gone', async () => {
    const caller = new AbortController();
    const call = { table: 'keys', key: 'k', changes: { add: { n: 1 } } } as const;
    const update = test.store.update(call, { signal: caller.signal }).catch((error: unknown) => error);
    await advance(20);
    caller.abort(new Error('the client left'));
    await advance(10);
    expect(await update).toMatchObject({ name: 'StoreUnavailable', cause: { message: 'the client left' } });
    other.exec('ROLLBACK');
    await advance(10);
    expect((await test.store.get('keys', 'k'))?.n).toBe(1);
  });
});
