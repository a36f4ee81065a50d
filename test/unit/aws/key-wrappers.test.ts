import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import {
  DecryptCommand,
  GenerateDataKeyCommand,
  IncorrectKeyException,
  InvalidCiphertextException,
  KMSClient,
} from '@aws-sdk/client-kms';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '#jest';
import { stageKeyWrapper } from '../../../infra/cli/target/open-dynamodb.ts';
import { createKeyVault, SealBroken } from '../../../shared/configuration/byok/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { systemClock } from '../../../shared/foundation/time/index.ts';
import { awsAccess } from '../../../shared/storage/aws-clients/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import { answer, type ScriptedServer, startScriptedServer } from '../../support/scripted-server.ts';
import { awsIdentity, testStage } from './test-stage.ts';

describe('over HTTP', () => {
  const keyId = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';
  const context = { workspace: 'team-a', connection: 'acme', stage: 'dev' };
  const { wrapper } = testStage({ GW_BYOK_KEY_ID: keyId });

  const kms = mockClient(KMSClient);
  const calls = () => kms.calls().length;
  beforeEach(() => {
    kms.reset();
    imitateKey(keyId);
  });
  afterAll(() => kms.restore());

  const refusal = (name: string) => Object.assign(new Error(name), { name, $metadata: { httpStatusCode: 400 } });

  /** Imitates GenerateDataKey and Decrypt of one key, with the encryption context as additional authenticated data. */
  function imitateKey(known: string): void {
    const master = randomBytes(32);
    const authenticated = (pairs: Record<string, string> = {}) =>
      Buffer.from(JSON.stringify(Object.entries(pairs).toSorted()));
    kms.on(GenerateDataKeyCommand).callsFake(async ({ EncryptionContext }) => {
      const [clear, iv] = [randomBytes(32), randomBytes(12)];
      const cipher = createCipheriv('aes-256-gcm', master, iv).setAAD(authenticated(EncryptionContext));
      const sealedBytes = Buffer.concat([iv, cipher.update(clear), cipher.final(), cipher.getAuthTag()]);
      return { KeyId: known, Plaintext: new Uint8Array(clear), CiphertextBlob: new Uint8Array(sealedBytes) };
    });
    kms.on(DecryptCommand).callsFake(async ({ KeyId, CiphertextBlob, EncryptionContext }) => {
      if (KeyId !== known) throw new IncorrectKeyException({ message: 'another key', $metadata: {} });
      try {
        const sealedBytes = Buffer.from(CiphertextBlob);
        const decipher = createDecipheriv('aes-256-gcm', master, sealedBytes.subarray(0, 12), { authTagLength: 16 });
        decipher.setAAD(authenticated(EncryptionContext)).setAuthTag(sealedBytes.subarray(-16));
        return { Plaintext: Buffer.concat([decipher.update(sealedBytes.subarray(12, -16)), decipher.final()]) };
      } catch {
        throw new InvalidCiphertextException({ message: 'not sealed so', $metadata: {} });
      }
    });
  }

  describe('data keys wrapped by KMS', () => {
    it('open for the place they were made for, each a new key of 256 bits', async () => {
      const [first, second] = [await wrapper.createDataKey(context), await wrapper.createDataKey(context)];
      expect(first.clear).toHaveLength(32);
      expect(first.clear).not.toEqual(second.clear);
      expect(await wrapper.unwrap(first.wrapped, context)).toEqual(first.clear);
      expect(Buffer.from(first.wrapped).includes(first.clear)).toBe(false);
      expect(first.wrappedBy).toBe(keyId);
    });

    it('are asked for with exactly the place as encryption context', async () => {
      await wrapper.createDataKey(context);
      const [command] = kms.commandCalls(GenerateDataKeyCommand);
      expect(command?.args[0].input).toEqual({ KeyId: keyId, KeySpec: 'AES_256', EncryptionContext: context });
    });

    it.each([
      ['another workspace', { ...context, workspace: 'team-b' }],
      ['another provider', { ...context, connection: 'other' }],
      ['another stage', { ...context, stage: 'prod' }],
    ])('are a broken seal in %s', async (_place, elsewhere) => {
      const { wrapped } = await wrapper.createDataKey(context);
      await expect(wrapper.unwrap(wrapped, elsewhere)).rejects.toBeInstanceOf(SealBroken);
    });

    it('are a broken seal when a byte was changed, or another key wrapped them', async () => {
      const { wrapped } = await wrapper.createDataKey(context);
      const changedBytes = Uint8Array.from(wrapped, (byte, index) => (index === 20 ? byte ^ 1 : byte));
      await expect(wrapper.unwrap(changedBytes, context)).rejects.toBeInstanceOf(SealBroken);
      imitateKey('another key');
      await expect(wrapper.unwrap(wrapped, context)).rejects.toBeInstanceOf(SealBroken);
    });

    it.each([0, 6145])('of %i bytes are a broken seal, and KMS is not asked', async (length) => {
      await expect(wrapper.unwrap(new Uint8Array(length), context)).rejects.toBeInstanceOf(SealBroken);
      expect(calls()).toBe(0);
    });

    it.each(['AccessDeniedException', 'DisabledException', 'KMSInvalidStateException', 'NotFoundException'])(
      'are no broken seal when KMS answers %s: it cannot be asked now',
      async (name) => {
        kms.on(DecryptCommand).rejects(refusal(name));
        const error: unknown = await wrapper.unwrap(new Uint8Array(40), context).catch((failure) => failure);
        expect(error).not.toBeInstanceOf(SealBroken);
        expect(error).toMatchObject({ name });
      },
    );

    it.each([
      ['no key', {}],
      ['a key of another size', { Plaintext: Buffer.from('secret'), CiphertextBlob: Buffer.from('wrapped') }],
    ])('are refused when KMS answers with %s, and the error does not quote it', async (_fault, answer) => {
      kms.on(GenerateDataKeyCommand).resolves(answer);
      kms.on(DecryptCommand).resolves(answer);
      for (const call of [wrapper.createDataKey(context), wrapper.unwrap(new Uint8Array(40), context)]) {
        const error: Error = await call.then(() => new SealBroken()).catch((failure) => failure);
        expect(error).not.toBeInstanceOf(SealBroken);
        expect(`${error.stack} ${String(error.cause)}`).not.toMatch(/secret|c2VjcmV0/);
      }
    });
  });

  describe('a vault over KMS', () => {
    const vaultOf = (name: string) =>
      createKeyVault({ wrapper, stage: name, clock: systemClock, randomness: systemRandomness });
    const place = { workspace: 'team-a', provider: 'acme' };

    it('opens what it sealed, with one call to KMS however often, and nothing sealed for another stage', async () => {
      const vault = vaultOf('dev');
      const sealedKey = await vault.seal(place, 'sk-acme-key');
      const before = calls();
      expect(await vault.open(place, sealedKey)).toBe('sk-acme-key');
      expect(await vault.open(place, sealedKey)).toBe('sk-acme-key');
      expect(calls()).toBe(before + 1);
      await expect(vaultOf('prod').open(place, sealedKey)).rejects.toBeInstanceOf(SealBroken);
    });

    it('is unavailable, not broken, while KMS refuses the function', async () => {
      const sealedKey = await vaultOf('dev').seal(place, 'sk-acme-key');
      kms.on(DecryptCommand).rejects(refusal('AccessDeniedException'));
      await expect(vaultOf('dev').open(place, sealedKey)).rejects.toBeInstanceOf(StoreUnavailable);
    });
  });
});

describe('of a stage', () => {
  const former = { ...process.env };
  let server: ScriptedServer;
  afterEach(async () => {
    process.env = { ...former };
    await server.stop();
  });

  describe('the key wrapper of the command line', () => {
    it.each(['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_KMS'])('calls the KMS that %s names', async (variable) => {
      const dataKey = { Plaintext: Buffer.alloc(32, 1).toString('base64'), CiphertextBlob: 'c2VhbGVk' };
      server = await startScriptedServer([answer(dataKey)]);
      process.env[variable] = server.endpoint;
      const wrapper = stageKeyWrapper(awsAccess({ region: 'eu-west-1', credentials: async () => awsIdentity }), 'dev');
      const { clear } = await wrapper.createDataKey({ workspace: 'team', connection: 'acme', stage: 'dev' });
      expect(clear).toEqual(Buffer.alloc(32, 1));
      expect(server.operations()).toEqual(['GenerateDataKey']);
      expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ KeyId: expect.stringContaining('dev') });
    });
  });
});
