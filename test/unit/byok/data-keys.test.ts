import { describe, expect, it } from '#jest';
import { commandCallTimeoutMs } from '../../../infra/cli/target/call-timeout.ts';
import { SealBroken } from '../../../shared/configuration/byok/aes-gcm.ts';
import { createDataKeys, dataKeyLifeMs, dataKeysMax } from '../../../shared/configuration/byok/data-keys.ts';
import type { KeyWrapper } from '../../../shared/configuration/byok/index.ts';
import { storeCallTimeoutMs } from '../../../shared/foundation/constants/index.ts';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { isWiped } from './support.ts';

const context = { workspace: 'team-a', connection: 'acme', stage: 'test' };
const wrappedAs = (name: string): Uint8Array => Buffer.from(name);
const isWhole = (clear: Buffer): boolean => clear.length === 32 && clear.every((byte) => byte === 7);

/** Unwraps anything to 32 sevens; remembers the buffers. */
function setUp(unwrap: (name: string) => Promise<Buffer> = async () => Buffer.alloc(32, 7), callTimeoutMs?: number) {
  const clock = manualClock();
  const asked: string[] = [];
  const buffers: Buffer[] = [];
  const wrapper: KeyWrapper = {
    createDataKey: () => Promise.reject(new Error('not asked here')),
    async unwrap(wrapped, { workspace }) {
      const name = Buffer.from(wrapped).toString();
      asked.push(`${name} ${workspace}`);
      const clear = await unwrap(name);
      buffers.push(clear);
      return clear;
    },
  };
  return { clock, asked, buffers, keys: createDataKeys({ wrapper, clock, ...(callTimeoutMs && { callTimeoutMs }) }) };
}

describe('a data key', () => {
  it('is unwrapped once for any number of uses at the same time and within five minutes', async () => {
    const { keys, asked, clock } = setUp();
    expect(await Promise.all([1, 2, 3].map(() => keys.use(wrappedAs('a'), context, isWhole)))).toEqual([
      true,
      true,
      true,
    ]);
    clock.advance(dataKeyLifeMs - 1);
    await keys.use(wrappedAs('a'), context, isWhole);
    expect(asked).toEqual(['a team-a']);
  });

  it('is unwrapped again after five minutes, however often it was used meanwhile, and the old one is overwritten', async () => {
    const { keys, asked, clock, buffers } = setUp();
    for (let minute = 0; minute < 5; minute += 1) {
      await keys.use(wrappedAs('a'), context, isWhole);
      clock.advance(60_000);
    }
    expect(isWiped(buffers[0])).toBe(false);
    expect(await keys.use(wrappedAs('a'), context, isWhole)).toBe(true);
    expect(asked).toHaveLength(2);
    expect(buffers.map(isWiped)).toEqual([true, false]);
  });

  it('that ran out is overwritten at the next use of any other', async () => {
    const { keys, clock, buffers } = setUp();
    await keys.use(wrappedAs('a'), context, isWhole);
    clock.advance(dataKeyLifeMs);
    await keys.use(wrappedAs('b'), context, isWhole);
    expect(buffers.map(isWiped)).toEqual([true, false]);
  });

  it('that was used longest ago makes room, is overwritten, and no other is', async () => {
    const { keys, asked, buffers } = setUp();
    for (let index = 0; index < dataKeysMax; index += 1) await keys.use(wrappedAs(`k${index}`), context, isWhole);
    await keys.use(wrappedAs('k0'), context, isWhole);
    await keys.use(wrappedAs('new'), context, isWhole);
    expect(buffers.filter(isWiped)).toHaveLength(1);
    expect(isWiped(buffers[1])).toBe(true);
    const before = asked.length;
    await keys.use(wrappedAs('k0'), context, isWhole);
    expect(asked).toHaveLength(before);
  });

  it('is not overwritten under a call that still waits for it, and is right after', async () => {
    const gates = new Map<string, () => void>();
    const { keys, buffers } = setUp(async (name) => {
      if (name === 'slow') await new Promise<void>((resolve) => gates.set(name, resolve));
      return Buffer.alloc(32, 7);
    });
    const waiting = keys.use(wrappedAs('slow'), context, isWhole);
    for (let index = 0; index < dataKeysMax; index += 1) await keys.use(wrappedAs(`k${index}`), context, isWhole);
    gates.get('slow')?.();
    expect(await waiting).toBe(true);
    expect(isWiped(buffers.at(-1))).toBe(true);
  });

  it('of one place is never used for another, though the wrapped bytes are the same', async () => {
    const { keys, asked } = setUp();
    await keys.use(wrappedAs('a'), context, isWhole);
    await keys.use(wrappedAs('a'), { ...context, workspace: 'team-b' }, isWhole);
    expect(asked).toEqual(['a team-a', 'a team-b']);
  });
});

describe('a wrapper in trouble', () => {
  it('is StoreUnavailable, is not remembered, and a broken seal stays one', async () => {
    let trouble: Error | undefined = new Error('throttled');
    const { keys } = setUp(async () => {
      if (trouble !== undefined) throw trouble;
      return Buffer.alloc(32, 7);
    });
    await expect(keys.use(wrappedAs('a'), context, isWhole)).rejects.toThrow(StoreUnavailable);
    trouble = new SealBroken();
    await expect(keys.use(wrappedAs('a'), context, isWhole)).rejects.toThrow(SealBroken);
    trouble = undefined;
    expect(await keys.use(wrappedAs('a'), context, isWhole)).toBe(true);
  });

  it('is not waited for longer than a store call, and a key that comes too late is overwritten', async () => {
    const late = Promise.withResolvers<Buffer>();
    const { keys, clock } = setUp(() => late.promise);
    const using = keys.use(wrappedAs('a'), context, isWhole);
    clock.advance(storeCallTimeoutMs);
    await expect(using).rejects.toThrow(StoreUnavailable);
    const key = Buffer.alloc(32, 7);
    late.resolve(key);
    await nextTurn();
    expect(isWiped(key)).toBe(true);
  });

  it('is waited for as long as the command line says, by a clock that tells the time', async () => {
    const late = Promise.withResolvers<Buffer>();
    const { keys, clock } = setUp(() => late.promise, commandCallTimeoutMs);
    const using = keys.use(wrappedAs('a'), context, isWhole);
    clock.advance(commandCallTimeoutMs - 1);
    late.resolve(Buffer.alloc(32, 7));
    expect(await using).toBe(true);
    expect(commandCallTimeoutMs).toBeGreaterThan(storeCallTimeoutMs);
  });
});
