import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from '#jest';
import { commandCallTimeoutMs } from '../../../infra/cli/target/target.ts';
import { SealBroken } from '../../../shared/configuration/byok/aes-gcm.ts';
import { createDataKeys } from '../../../shared/configuration/byok/data-keys.ts';
import {
  type Connection,
  type KeyWrapper,
  localKeyWrapper,
  quoteBudget,
} from '../../../shared/configuration/byok/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import { storeCallTimeoutMs } from '../../../shared/foundation/constants/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { parseUsd } from '../../../shared/foundation/money/index.ts';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { isWiped, place, vaultOn, watchedWrapper } from '../../support/watched-wrapper.ts';

const dataKeysMax = 1_000;

const dataKeyLifeMs = 300_000;

const canary = 'canary-Key-7Q2-provider';

const flipped = (bytes: Uint8Array, at: number): Uint8Array =>
  Uint8Array.from(bytes, (byte, index) => (index === at ? byte ^ 1 : byte));

describe('a sealed key', () => {
  it('opens to the very text in its place, and shows nothing of it while sealed', async () => {
    const vault = vaultOn();
    const sealedKey = await vault.seal(place, canary);
    expect(await vault.open(place, sealedKey)).toBe(canary);
    const visibleText = JSON.stringify(sealedKey, (_name, value) =>
      value instanceof Uint8Array ? [Buffer.from(value).toString('latin1'), Buffer.from(value).toString('hex')] : value,
    );
    for (const form of [canary, Buffer.from(canary).toString('hex'), Buffer.from(canary).toString('base64')]) {
      expect(visibleText).not.toContain(form);
    }
    expect(Object.keys(sealedKey).sort()).toEqual(['ciphertext', 'iv', 'tag', 'v', 'wrapped_key']);
    expect([sealedKey.iv.byteLength, sealedKey.tag.byteLength]).toEqual([12, 16]);
  });

  it('is another text each time, so that two connections with one key cannot be matched', async () => {
    const vault = vaultOn();
    const [one, two] = [await vault.seal(place, canary), await vault.seal(place, canary)];
    for (const member of ['wrapped_key', 'iv', 'tag', 'ciphertext'] as const) {
      expect(Buffer.from(one[member]).equals(two[member])).toBe(false);
    }
  });

  it.each([
    ['another workspace', { ...place, workspace: 'team-b' }],
    ['another provider', { ...place, provider: 'other' }],
  ])('that was moved to %s does not open, not even after it was opened in its place', async (_title, elsewhere) => {
    const vault = vaultOn();
    const sealedKey = await vault.seal(place, canary);
    await expect(vault.open(elsewhere, sealedKey)).rejects.toThrow('does not open');
    await vault.open(place, sealedKey);
    await expect(vault.open(elsewhere, sealedKey)).rejects.toMatchObject({ name: 'SealBroken' });
  });

  it('names the KMS key that wrapped it, also when it does not open: the one that a new deployment has to adopt', async () => {
    const keyArn = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd';
    const local = localKeyWrapper();
    const kms = (real: KeyWrapper): KeyWrapper => ({
      isShared: true,
      createDataKey: async (context) => ({ ...(await real.createDataKey(context)), wrappedBy: keyArn }),
      unwrap: real.unwrap,
    });
    const sealedKey = await vaultOn(kms(local)).seal(place, canary);
    expect(sealedKey.wrapped_by).toBe(keyArn);
    expect(await vaultOn(kms(local)).open(place, sealedKey)).toBe(canary);
    await expect(vaultOn(kms(localKeyWrapper())).open(place, sealedKey)).rejects.toThrow(`(it names ${keyArn})`);
  });

  it('that was moved does not open under a data key of the new place either', async () => {
    const vault = vaultOn();
    const elsewhere = { ...place, workspace: 'team-b' };
    const [mine, other] = [await vault.seal(place, canary), await vault.seal(elsewhere, 'another')];
    await expect(vault.open(elsewhere, { ...mine, wrapped_key: other.wrapped_key })).rejects.toThrow('does not open');
  });

  it('of another stage or under another master key does not open', async () => {
    const wrapper = localKeyWrapper();
    const sealedKey = await vaultOn(wrapper, 'prod').seal(place, canary);
    await expect(vaultOn(wrapper, 'dev').open(place, sealedKey)).rejects.toMatchObject({ name: 'SealBroken' });
    await expect(vaultOn(localKeyWrapper(), 'prod').open(place, sealedKey)).rejects.toMatchObject({
      name: 'SealBroken',
    });
    expect(await vaultOn(wrapper, 'prod').open(place, sealedKey)).toBe(canary);
  });

  it('with any byte changed, or with a tag cut short, does not open', async () => {
    const vault = vaultOn();
    const sealedKey = await vault.seal(place, canary);
    const members = ['wrapped_key', 'iv', 'tag', 'ciphertext'] as const;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...members), fc.nat(), async (member, position) => {
        const bytes = sealedKey[member];
        const changedKey = { ...sealedKey, [member]: flipped(bytes, position % bytes.byteLength) };
        await expect(vault.open(place, changedKey)).rejects.toMatchObject({ name: 'SealBroken' });
      }),
      { numRuns: 60 },
    );
    for (const length of [0, 4, 15]) {
      const cut = { ...sealedKey, tag: sealedKey.tag.subarray(0, length) };
      await expect(vault.open(place, cut)).rejects.toMatchObject({ name: 'SealBroken' });
    }
    await expect(vault.open(place, { ...sealedKey, wrapped_key: new Uint8Array() })).rejects.toThrow('does not open');
    await expect(vault.open(place, { ...sealedKey, v: 2 })).rejects.toThrow('does not open');
  });

  it('leaves no data key behind once it is sealed', async () => {
    const wrapper = watchedWrapper();
    await vaultOn(wrapper).seal(place, canary);
    expect(wrapper.handedOut).toHaveLength(1);
    expect(wrapper.handedOut.every(isWiped)).toBe(true);
  });
});

const context = { workspace: 'team-a', connection: 'acme', stage: 'test' };
const wrappedAs = (name: string): Uint8Array => Buffer.from(name);
const isWhole = (clear: Buffer): boolean => clear.length === 32 && clear.every((byte) => byte === 7);

/** The wrapper unwraps anything to 32 sevens, and remembers the buffers. */
function setUp(unwrap: (name: string) => Promise<Buffer> = async () => Buffer.alloc(32, 7), callTimeoutMs?: number) {
  const clock = manualClock();
  const unwraps: string[] = [];
  const buffers: Buffer[] = [];
  const wrapper: KeyWrapper = {
    isShared: true,
    createDataKey: () => Promise.reject(new Error('not asked here')),
    async unwrap(wrappedKey, { workspace }) {
      const name = Buffer.from(wrappedKey).toString();
      unwraps.push(`${name} ${workspace}`);
      const clear = await unwrap(name);
      buffers.push(clear);
      return clear;
    },
  };
  return { clock, unwraps, buffers, keys: createDataKeys({ wrapper, clock, ...(callTimeoutMs && { callTimeoutMs }) }) };
}

describe('a data key', () => {
  it('is unwrapped once for any number of uses at the same time and within five minutes', async () => {
    const { keys, unwraps, clock } = setUp();
    expect(await Promise.all([1, 2, 3].map(() => keys.use(wrappedAs('a'), context, isWhole)))).toEqual([
      true,
      true,
      true,
    ]);
    clock.advance(dataKeyLifeMs - 1);
    await keys.use(wrappedAs('a'), context, isWhole);
    expect(unwraps).toEqual(['a team-a']);
  });

  it('is unwrapped again after five minutes, however often it was used meanwhile, and the old one is overwritten', async () => {
    const { keys, unwraps, clock, buffers } = setUp();
    for (let minute = 0; minute < 5; minute += 1) {
      await keys.use(wrappedAs('a'), context, isWhole);
      clock.advance(60_000);
    }
    expect(isWiped(buffers[0])).toBe(false);
    expect(await keys.use(wrappedAs('a'), context, isWhole)).toBe(true);
    expect(unwraps).toHaveLength(2);
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
    const { keys, unwraps, buffers } = setUp();
    for (let index = 0; index < dataKeysMax; index += 1) await keys.use(wrappedAs(`k${index}`), context, isWhole);
    await keys.use(wrappedAs('k0'), context, isWhole);
    await keys.use(wrappedAs('new'), context, isWhole);
    expect(buffers.filter(isWiped)).toHaveLength(1);
    expect(isWiped(buffers[1])).toBe(true);
    const before = unwraps.length;
    await keys.use(wrappedAs('k0'), context, isWhole);
    expect(unwraps).toHaveLength(before);
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
    const { keys, unwraps } = setUp();
    await keys.use(wrappedAs('a'), context, isWhole);
    await keys.use(wrappedAs('a'), { ...context, workspace: 'team-b' }, isWhole);
    expect(unwraps).toEqual(['a team-a', 'a team-b']);
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

describe('on disk', () => {
  let root: string;
  beforeEach(() => {
    root = temporaryFolder();
  });

  const permissions = (path: string): number => statSync(path).mode & 0o777;

  describe('the master key of a local run', () => {
    it('is made once in a file of its owner alone, and opens after a restart what was sealed before', async () => {
      const folder = join(root, 'made', 'on-demand');
      const sealedKey = await vaultOn(localKeyWrapper({ folder })).seal(place, 'key');
      const [name = '', ...more] = readdirSync(folder);
      expect(more).toEqual([]);
      expect([permissions(join(folder, name)), permissions(folder)]).toEqual([0o600, 0o700]);
      const bytes = readFileSync(join(folder, name));
      expect(bytes).toHaveLength(32);
      expect(await vaultOn(localKeyWrapper({ folder })).open(place, sealedKey)).toBe('key');
      expect(readFileSync(join(folder, name)).equals(bytes)).toBe(true);
    });

    it('is the one of the gateway that was first, when two start on one folder at the same moment', async () => {
      const folder = join(root, 'shared');
      let winner: ReturnType<typeof localKeyWrapper> | undefined;
      // The second wrapper starts just before the first one moves its file to its place.
      const randomness = {
        ...systemRandomness,
        uuid: () => {
          winner ??= localKeyWrapper({ folder });
          return systemRandomness.uuid();
        },
      };
      const loser = localKeyWrapper({ folder, randomness });
      if (winner === undefined) throw new Error('no process won');
      const sealedKey = await vaultOn(winner).seal(place, 'key');
      expect(await vaultOn(loser).open(place, sealedKey)).toBe('key');
      expect(readdirSync(folder)).toHaveLength(1);
    });

    it('without a folder ends with its wrapper and touches no disk', async () => {
      const sealedKey = await vaultOn(localKeyWrapper()).seal(place, 'key');
      await expect(vaultOn(localKeyWrapper()).open(place, sealedKey)).rejects.toThrow('does not open');
      expect(readdirSync(root)).toEqual([]);
    });

    it('of a wrong length stops the start with the name of its file, and is left alone', () => {
      localKeyWrapper({ folder: root });
      const path = join(root, readdirSync(root)[0] ?? '');
      writeFileSync(path, 'short');
      expect(() => localKeyWrapper({ folder: root })).toThrow(path);
      expect(readFileSync(path, 'utf8')).toBe('short');
    });
  });
});

const empty = new Uint8Array();
const sealed = { v: 1, wrapped_key: empty, iv: empty, tag: empty, ciphertext: empty };
const connection = (provider: string, more: Partial<Connection> = {}): Connection => ({
  workspace: 'team-a',
  provider,
  policy: 'allowed',
  budgetPicoUsd: null,
  sealed,
  ...more,
});
const usd = (text: string): bigint => parseUsd(text) ?? 0n;

describe('the budget of a connection', () => {
  const budgeted = connection('acme', { budgetPicoUsd: usd('10') });

  it('is held in a counter of that connection in the ledger, for the worst case of the call', () => {
    expect(quoteBudget(budgeted, usd('0.25'))).toEqual({
      kind: 'held',
      amount: usd('0.25'),
      counter: {
        table: 'ledger',
        key: 'BYOKBUDGET#team-a#acme',
        balances: [{ attribute: 'balance_pico_usd', limit: usd('10') }],
        spentAttribute: 'spent_pico_usd',
      },
    });
  });

  it('never lets a hold through that is above it, and refuses none for its size that is not', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 15n), fc.bigInt(0n, 10n ** 15n), (limit, worstCase) => {
        const quote = quoteBudget(connection('acme', { budgetPicoUsd: limit }), worstCase);
        expect(quote instanceof GatewayError).toBe(worstCase > limit);
        if (!(quote instanceof GatewayError)) expect(quote.kind).toBe(worstCase === 0n ? 'free' : 'held');
      }),
      { examples: [[5n, 5n]] },
    );
  });
});
