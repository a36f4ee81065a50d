import { afterEach, describe, expect, it } from '#jest';
import type { ProviderDocument } from '../../../shared/configuration/catalogue/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import {
  answer,
  awsError,
  type Behaviour,
  type ScriptedServer,
  startScriptedServer,
} from '../../support/scripted-server.ts';
import { awsIdentity, type TestStage, testStage } from './support.ts';

const secretId = 'gw/dev/providers';
const acme = { auth: { bearer: { secret: 'acme' } } } as ProviderDocument;
const holding = (SecretString: string): Behaviour => answer({ Name: secretId, SecretString });

const formerEndpoint = process.env.AWS_ENDPOINT_URL_SECRETS_MANAGER;
let server: ScriptedServer;
afterEach(async () => {
  process.env.AWS_ENDPOINT_URL_SECRETS_MANAGER = formerEndpoint ?? '';
  await server.stop();
});

async function readyStage(behaviour: Behaviour): Promise<TestStage> {
  server = await startScriptedServer([behaviour]);
  process.env.AWS_ENDPOINT_URL_SECRETS_MANAGER = server.endpoint;
  const stage = testStage({ GW_PROVIDER_SECRET: secretId });
  await stage.credentials.ready();
  return stage;
}

describe('the provider secret', () => {
  it('gives the credential that stands in it under the name, and asks for no other secret', async () => {
    const { credentials } = await readyStage(holding('{"acme":"sk-acme-key"}'));
    expect(credentials.find(acme)).toEqual({ authorization: 'Bearer sk-acme-key' });
    expect(server.operations()).toEqual(['GetSecretValue']);
    expect(server.requests.map(({ body }) => JSON.parse(body))).toEqual([{ SecretId: secretId }]);
  });

  it.each([
    ['there is no such secret', awsError(400, 'ResourceNotFoundException')],
    ['it is being deleted', awsError(400, 'InvalidRequestException')],
    ['it holds no text', answer({ Name: secretId, SecretBinary: 'aHVudGVyMg==' })],
    ['it holds no JSON', holding('sk-acme-hunter2')],
    ['it holds no object', holding('["sk-acme-hunter2"]')],
    ['the value is empty', holding('{"acme":""}')],
    ['the value is no text', holding('{"acme":{"key":"hunter2"}}')],
    ['the value fits no header', holding('{"acme":"hunter2\\n"}')],
  ] as const)(
    'leaves a provider unconfigured when %s; the log says that, and not what it holds',
    async (_case, behaviour) => {
      const { credentials, lines } = await readyStage(behaviour);
      expect(credentials.find(acme)).toBeUndefined();
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(/"event":"provider_secret_(absent|unreadable|values_unusable)"/);
      expect(lines.join()).not.toMatch(/hunter2|aHVudGVyMg/);
    },
  );

  it.each([
    ['the function may not read it', awsError(400, 'AccessDeniedException'), 'AccessDeniedException'],
    ['its own key cannot decrypt it', awsError(400, 'DecryptionFailure'), 'DecryptionFailure'],
    ['the service fails', awsError(500, 'InternalServiceError'), 'InternalServiceError'],
    ['the connection breaks', 'lost', 'ECONNRESET'],
    [
      'the answer is too large',
      answer(`{"SecretString":"${'x'.repeat(512 * 1024)}"}`),
      'an answer of over 524288 bytes',
    ],
    ['the answer is no JSON', answer('{"SecretString":"sk-hunter2'), 'is not the JSON that was expected'],
  ] as const satisfies readonly (readonly [string, Behaviour, string])[])(
    'makes a provider unavailable, not unconfigured, when %s; the log tells the cause and holds no secret',
    async (_case, behaviour, cause) => {
      const { credentials, lines } = await readyStage(behaviour);
      expect(() => credentials.find(acme)).toThrow(StoreUnavailable);
      expect(lines[0]).toContain('"event":"provider_secret_unreachable"');
      expect(lines[0]).toContain(cause);
      for (const secret of ['hunter2', awsIdentity.secretAccessKey, awsIdentity.sessionToken]) {
        expect(lines.join()).not.toContain(secret);
      }
    },
  );
});
