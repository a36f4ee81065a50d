import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { type KeyWrapper, localKeyWrapper, type SealedKey } from '../../../shared/configuration/byok/index.ts';
import { createLog } from '../../../shared/foundation/log/index.ts';
import { systemClock } from '../../../shared/foundation/time/index.ts';
import { isWiped, place, vaultOn, watchedWrapper } from './support.ts';

const canary = 'canary-Key-7Q2-provider';

const flipped = (bytes: Uint8Array, at: number): Uint8Array =>
  Uint8Array.from(bytes, (byte, index) => (index === at ? byte ^ 1 : byte));

describe('a sealed key', () => {
  it('opens to the very text in its place, and shows nothing of it while sealed', async () => {
    const vault = vaultOn();
    const sealed = await vault.seal(place, canary);
    expect(await vault.open(place, sealed)).toBe(canary);
    const seen = JSON.stringify(sealed, (_name, value) =>
      value instanceof Uint8Array ? [Buffer.from(value).toString('latin1'), Buffer.from(value).toString('hex')] : value,
    );
    for (const form of [canary, Buffer.from(canary).toString('hex'), Buffer.from(canary).toString('base64')]) {
      expect(seen).not.toContain(form);
    }
    expect(Object.keys(sealed).sort()).toEqual(['ciphertext', 'iv', 'tag', 'v', 'wrapped_key']);
    expect([sealed.iv.byteLength, sealed.tag.byteLength]).toEqual([12, 16]);
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
    const sealed = await vault.seal(place, canary);
    await expect(vault.open(elsewhere, sealed)).rejects.toThrow('does not open');
    await vault.open(place, sealed);
    await expect(vault.open(elsewhere, sealed)).rejects.toMatchObject({ name: 'SealBroken' });
  });

  it('names the KMS key that wrapped it, also when it does not open: the one that a new deployment has to adopt', async () => {
    const keyArn = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd';
    const local = localKeyWrapper();
    const kms = (real: KeyWrapper): KeyWrapper => ({
      createDataKey: async (context) => ({ ...(await real.createDataKey(context)), wrappedBy: keyArn }),
      unwrap: real.unwrap,
    });
    const sealed = await vaultOn(kms(local)).seal(place, canary);
    expect(sealed.wrapped_by).toBe(keyArn);
    expect(await vaultOn(kms(local)).open(place, sealed)).toBe(canary);
    await expect(vaultOn(kms(localKeyWrapper())).open(place, sealed)).rejects.toThrow(`(it names ${keyArn})`);
  });

  it('that was moved does not open under a data key of the new place either', async () => {
    const vault = vaultOn();
    const elsewhere = { ...place, workspace: 'team-b' };
    const [mine, other] = [await vault.seal(place, canary), await vault.seal(elsewhere, 'another')];
    await expect(vault.open(elsewhere, { ...mine, wrapped_key: other.wrapped_key })).rejects.toThrow('does not open');
  });

  it('of another stage or under another master key does not open', async () => {
    const wrapper = localKeyWrapper();
    const sealed = await vaultOn(wrapper, 'prod').seal(place, canary);
    await expect(vaultOn(wrapper, 'dev').open(place, sealed)).rejects.toMatchObject({ name: 'SealBroken' });
    await expect(vaultOn(localKeyWrapper(), 'prod').open(place, sealed)).rejects.toMatchObject({ name: 'SealBroken' });
    expect(await vaultOn(wrapper, 'prod').open(place, sealed)).toBe(canary);
  });

  it('with any byte changed, or with a tag cut short, does not open', async () => {
    const vault = vaultOn();
    const sealed = await vault.seal(place, canary);
    const members = ['wrapped_key', 'iv', 'tag', 'ciphertext'] as const;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...members), fc.nat(), async (member, position) => {
        const bytes = sealed[member];
        const changed: SealedKey = { ...sealed, [member]: flipped(bytes, position % bytes.byteLength) };
        await expect(vault.open(place, changed)).rejects.toMatchObject({ name: 'SealBroken' });
      }),
      { numRuns: 60 },
    );
    for (const length of [0, 4, 15]) {
      const cut = { ...sealed, tag: sealed.tag.subarray(0, length) };
      await expect(vault.open(place, cut)).rejects.toMatchObject({ name: 'SealBroken' });
    }
    await expect(vault.open(place, { ...sealed, wrapped_key: new Uint8Array() })).rejects.toThrow('does not open');
    await expect(vault.open(place, { ...sealed, v: 2 })).rejects.toThrow('does not open');
  });

  it('that does not open names no key in its error, whatever is printed of it', async () => {
    const vault = vaultOn();
    const sealed = await vault.seal(place, canary);
    const error = await vault.open({ ...place, workspace: 'team-b' }, sealed).catch((caught: unknown) => caught);
    const lines: string[] = [];
    createLog({ clock: systemClock, write: (line) => lines.push(line) }).error({ event: 'request_failed' }, error);
    expect(lines).toHaveLength(1);
    const printed = inspect(error, { depth: 9 }) + lines.join();
    expect(printed).not.toContain(canary);
    expect(printed).not.toContain(Buffer.from(canary).toString('base64'));
  });

  it('leaves no data key behind once it is sealed', async () => {
    const wrapper = watchedWrapper();
    await vaultOn(wrapper).seal(place, canary);
    expect(wrapper.handedOut).toHaveLength(1);
    expect(wrapper.handedOut.every(isWiped)).toBe(true);
  });
});
