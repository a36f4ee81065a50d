import { afterEach, describe, expect, it } from '@jest/globals';
import type { ProviderDocument } from '../../../shared/configuration/catalogue/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import { type Answering, fakeSecretsManager, identity, jsonFault } from '../../support/fake-aws.ts';
import { type FakeStage, fakeStage } from './support.ts';

const secretId = 'gw/dev/providers';
const acme = { auth: { bearer: { secret: 'acme' } } } as ProviderDocument;

let stage: FakeStage | undefined;
afterEach(() => stage?.fake.stop());

async function readyStage(answering: Answering): Promise<FakeStage> {
  stage = await fakeStage(answering, { GW_PROVIDER_SECRET: secretId });
  await stage.credentials.ready();
  return stage;
}

describe('the provider secret', () => {
  it('gives the credential that stands in it under the name, and asks for no other secret', async () => {
    const { credentials, fake } = await readyStage(
      fakeSecretsManager({ [secretId]: '{"acme":"sk-acme-key"}', other: '{"acme":"wrong"}' }),
    );
    expect(credentials.find(acme)).toEqual({ authorization: 'Bearer sk-acme-key' });
    expect(fake.received.map(({ body }) => JSON.parse(String(body)))).toEqual([{ SecretId: secretId }]);
  });

  it.each([
    ['there is no such secret', fakeSecretsManager({})],
    ['it is being deleted', (() => jsonFault(400, 'InvalidRequestException')) satisfies Answering],
    ['it holds no JSON', fakeSecretsManager({ [secretId]: 'sk-acme-hunter2' })],
    ['it holds no object', fakeSecretsManager({ [secretId]: '["sk-acme-hunter2"]' })],
    ['the value is empty', fakeSecretsManager({ [secretId]: '{"acme":""}' })],
    ['the value is no text', fakeSecretsManager({ [secretId]: '{"acme":{"key":"hunter2"}}' })],
    ['the value fits no header', fakeSecretsManager({ [secretId]: '{"acme":"hunter2\\n"}' })],
  ] as const)(
    'leaves a provider unconfigured when %s; the log says that, and not what it holds',
    async (_case, answering) => {
      const { credentials, lines } = await readyStage(answering);
      expect(credentials.find(acme)).toBeUndefined();
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(/"event":"provider_secret_(absent|unreadable|values_unusable)"/);
      expect(lines.join()).not.toContain('hunter2');
    },
  );

  it.each([
    ['the function may not read it', () => jsonFault(400, 'AccessDeniedException')],
    ['its own key cannot decrypt it', () => jsonFault(400, 'DecryptionFailure')],
    ['the service fails', () => jsonFault(500, 'InternalServiceError')],
    ['the connection breaks', () => 'reset'],
    ['the answer is no JSON', () => ({ status: 200, body: 'sk-hunter2' })],
  ] as const satisfies readonly (readonly [string, Answering])[])(
    'makes a provider unavailable, not unconfigured, when %s; the log holds no secret',
    async (_case, answering) => {
      const { credentials, lines } = await readyStage(answering);
      expect(() => credentials.find(acme)).toThrow(StoreUnavailable);
      expect(lines[0]).toContain('"event":"provider_secret_unreachable"');
      for (const secret of ['hunter2', identity.secretAccessKey, identity.sessionToken]) {
        expect(lines.join()).not.toContain(secret);
      }
    },
  );
});
