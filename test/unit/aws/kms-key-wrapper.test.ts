import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createKeyVault, SealBroken } from '../../../shared/configuration/byok/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { systemClock } from '../../../shared/foundation/time/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import { type Answering, fakeKms, jsonFault } from '../../support/fake-aws.ts';
import { type FakeStage, fakeStage } from './support.ts';

const keyId = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';
const context = { workspace: 'team-a', connection: 'acme', stage: 'dev' };

let answering: Answering;
let stage: FakeStage;
beforeAll(async () => {
  stage = await fakeStage((...request) => answering(...request), { GW_BYOK_KEY_ID: keyId });
});
afterAll(() => stage.fake.stop());

describe('data keys wrapped by KMS', () => {
  it('open for the place they were made for, each a new key of 256 bits', async () => {
    answering = fakeKms(keyId);
    const [first, second] = [await stage.wrapper.createDataKey(context), await stage.wrapper.createDataKey(context)];
    expect(first.clear).toHaveLength(32);
    expect(first.clear).not.toEqual(second.clear);
    expect(await stage.wrapper.unwrap(first.wrapped, context)).toEqual(first.clear);
    expect(Buffer.from(first.wrapped).includes(first.clear)).toBe(false);
    expect(first.wrappedBy).toBe(keyId);
  });

  it('are asked for with exactly the place as encryption context', async () => {
    answering = fakeKms(keyId);
    await stage.wrapper.createDataKey({ ...context, extra: 'not authenticated' } as typeof context);
    const input = JSON.parse(String(stage.fake.received.at(-1)?.body));
    expect(input).toEqual({ KeyId: keyId, KeySpec: 'AES_256', EncryptionContext: context });
  });

  it.each([
    ['another workspace', { ...context, workspace: 'team-b' }],
    ['another provider', { ...context, connection: 'other' }],
    ['another stage', { ...context, stage: 'prod' }],
  ])('are a broken seal in %s', async (_place, elsewhere) => {
    answering = fakeKms(keyId);
    const { wrapped } = await stage.wrapper.createDataKey(context);
    await expect(stage.wrapper.unwrap(wrapped, elsewhere)).rejects.toBeInstanceOf(SealBroken);
  });

  it('are a broken seal when a byte was changed, or another key wrapped them', async () => {
    answering = fakeKms(keyId);
    const { wrapped } = await stage.wrapper.createDataKey(context);
    const changed = Uint8Array.from(wrapped, (byte, index) => (index === 20 ? byte ^ 1 : byte));
    await expect(stage.wrapper.unwrap(changed, context)).rejects.toBeInstanceOf(SealBroken);
    answering = fakeKms('another key');
    await expect(stage.wrapper.unwrap(wrapped, context)).rejects.toBeInstanceOf(SealBroken);
  });

  it.each([0, 6145])('of %i bytes are a broken seal, and KMS is not asked', async (length) => {
    const before = stage.fake.received.length;
    await expect(stage.wrapper.unwrap(new Uint8Array(length), context)).rejects.toBeInstanceOf(SealBroken);
    expect(stage.fake.received).toHaveLength(before);
  });

  it.each(['AccessDeniedException', 'DisabledException', 'KMSInvalidStateException', 'NotFoundException'])(
    'are no broken seal when KMS answers %s: it cannot be asked now',
    async (code) => {
      answering = () => jsonFault(400, code);
      const error: unknown = await stage.wrapper.unwrap(new Uint8Array(40), context).catch((thrown) => thrown);
      expect(error).toMatchObject({ name: 'AwsCallFailed', code });
    },
  );

  it.each([
    ['no JSON', 'Plaintext: c2VjcmV0'],
    ['no key', '{}'],
    ['a key of another size', '{"Plaintext":"c2VjcmV0","CiphertextBlob":"c2VjcmV0"}'],
  ])('are refused when KMS answers with %s, and the error does not quote it', async (_fault, body) => {
    answering = () => ({ status: 200, body });
    for (const asked of [stage.wrapper.createDataKey(context), stage.wrapper.unwrap(new Uint8Array(40), context)]) {
      const error: Error = await asked.then(() => new SealBroken()).catch((thrown) => thrown);
      expect(error).not.toBeInstanceOf(SealBroken);
      expect(`${error.stack} ${String(error.cause)}`).not.toContain('c2VjcmV0');
    }
  });
});

describe('a vault over KMS', () => {
  const vaultOf = (name: string) =>
    createKeyVault({ wrapper: stage.wrapper, stage: name, clock: systemClock, randomness: systemRandomness });
  const place = { workspace: 'team-a', provider: 'acme' };

  it('opens what it sealed, with one call to KMS however often, and nothing sealed for another stage', async () => {
    answering = fakeKms(keyId);
    const vault = vaultOf('dev');
    const sealed = await vault.seal(place, 'sk-acme-key');
    const before = stage.fake.received.length;
    expect(await vault.open(place, sealed)).toBe('sk-acme-key');
    expect(await vault.open(place, sealed)).toBe('sk-acme-key');
    expect(stage.fake.received).toHaveLength(before + 1);
    await expect(vaultOf('prod').open(place, sealed)).rejects.toBeInstanceOf(SealBroken);
  });

  it('is unavailable, not broken, while KMS refuses the function', async () => {
    answering = fakeKms(keyId);
    const sealed = await vaultOf('dev').seal(place, 'sk-acme-key');
    answering = () => jsonFault(400, 'AccessDeniedException');
    await expect(vaultOf('dev').open(place, sealed)).rejects.toBeInstanceOf(StoreUnavailable);
  });
});
