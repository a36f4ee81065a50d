import { afterEach, describe, expect, it } from '#jest';
import type { ProviderAuth, ProviderDocument } from '../../../shared/configuration/catalogue/index.ts';
import { createLog } from '../../../shared/foundation/log/index.ts';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import { providerCredentials } from '../../../shared/routing/providers/provider-credentials.ts';
import type { SecretReading } from '../../../shared/routing/providers/provider-secret.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import { manualClock } from '../../support/manual-clock.ts';
import {
  answer,
  awsError,
  type ScriptedBehaviour,
  type ScriptedServer,
  startScriptedServer,
} from '../../support/scripted-server.ts';
import { startTokenEndpoint } from '../../support/token-endpoint.ts';
import { awsIdentity, type TestStage, testStage } from './test-stage.ts';

const provider = (auth: ProviderAuth) => ({ auth }) as ProviderDocument;
const acme = provider({ bearer: { secret: 'acme' } });
const valuesOf = (values: Record<string, string>): SecretReading => ({
  kind: 'values',
  values: new Map(Object.entries(values)),
  unusable: 0,
});

/** Creates credentials whose reads the test answers itself, one after the other. */
function create() {
  const clock = manualClock();
  const lines: string[] = [];
  const reads: PromiseWithResolvers<SecretReading>[] = [];
  const credentials = providerCredentials({
    readSecret: () => {
      const read = Promise.withResolvers<SecretReading>();
      reads.push(read);
      return read.promise;
    },
    clock,
    log: createLog({ clock, write: (line) => lines.push(line) }),
  });
  const answer = async (reading: SecretReading | Error) => {
    if (reading instanceof Error) reads.at(-1)?.reject(reading);
    else reads.at(-1)?.resolve(reading);
    await nextTurn();
  };
  /** Starts an instance that has read this reading or error. */
  const start = async (reading: SecretReading | Error) => {
    const ready = credentials.ready();
    await answer(reading);
    await ready;
  };
  return { clock, lines, reads, credentials, answer, start };
}

describe('provider credentials of a stage', () => {
  it('come from the secret by name, whether the file says secret or env, and are undefined without a name', async () => {
    const { credentials, start } = create();
    await start(valuesOf({ acme: 'key-1', ACME_API_KEY: 'key-2' }));
    expect(credentials.find(acme)).toEqual({ headers: { authorization: 'Bearer key-1' } });
    expect(credentials.find(provider({ bearer: { env: 'ACME_API_KEY' } }))).toEqual({
      headers: { authorization: 'Bearer key-2' },
    });
    expect(credentials.find(provider({ bearer: { secret: 'other' } }))).toBeUndefined();
    expect(credentials.find(provider({ bearer: { secret: '__proto__' } }))).toBeUndefined();
  });

  it('are in the header that the file names, without a scheme', async () => {
    const { credentials, start } = create();
    await start(valuesOf({ acme: 'key-1', ACME_API_KEY: 'key-2' }));
    const inHeader = (reference: { secret: string } | { env: string }) =>
      credentials.find(provider({ header: { name: 'x-api-key', ...reference } }));
    expect(inHeader({ secret: 'acme' })).toEqual({ headers: { 'x-api-key': 'key-1' } });
    expect(inHeader({ env: 'ACME_API_KEY' })).toEqual({ headers: { 'x-api-key': 'key-2' } });
    expect(inHeader({ env: 'OTHER' })).toBeUndefined();
  });

  it('never come from the environment of the process', async () => {
    const { credentials, start } = create();
    await start(valuesOf({}));
    expect(process.env.PATH).toBeDefined();
    expect(credentials.find(provider({ bearer: { env: 'PATH' } }))).toBeUndefined();
  });

  it('make a cold instance wait for its first copy, one read for all who wait', async () => {
    const { credentials, reads, answer } = create();
    const waiting = Promise.all([credentials.ready(), credentials.ready()]);
    expect(() => credentials.find(acme)).toThrow(StoreUnavailable);
    await answer(valuesOf({ acme: 'key-1' }));
    await waiting;
    expect(reads).toHaveLength(1);
    expect(credentials.find(acme)).toEqual({ headers: { authorization: 'Bearer key-1' } });
  });

  it('are unavailable, not unconfigured, while the secret cannot be reached; providers that need none are served', async () => {
    const { credentials, start, lines } = create();
    await start(new Error('no answer within 800 ms'));
    expect(() => credentials.find(acme)).toThrow(StoreUnavailable);
    expect(credentials.find(provider('none'))).toEqual({ headers: {} });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('provider_secret_unreachable');
  });

  it('are asked for again a second after a failure, not in every request', async () => {
    const { credentials, start, reads, clock, answer } = create();
    await start(new Error('unreachable'));
    await credentials.ready();
    clock.advance(999);
    await credentials.ready();
    expect(reads).toHaveLength(1);
    clock.advance(1);
    const ready = credentials.ready();
    await answer(valuesOf({ acme: 'key-1' }));
    await ready;
    expect(credentials.find(acme)).toEqual({ headers: { authorization: 'Bearer key-1' } });
  });

  it('are read again after five minutes, in the background: meanwhile the old copy serves', async () => {
    const { credentials, start, reads, clock, answer } = create();
    await start(valuesOf({ acme: 'old' }));
    clock.advance(299_999);
    await credentials.ready();
    expect(reads).toHaveLength(1);
    clock.advance(1);
    await credentials.ready();
    expect(credentials.find(acme)).toEqual({ headers: { authorization: 'Bearer old' } });
    expect(reads).toHaveLength(2);
    await answer(valuesOf({ acme: 'new' }));
    expect(credentials.find(acme)).toEqual({ headers: { authorization: 'Bearer new' } });
  });

  it('keep serving as they were while the secret cannot be reached', async () => {
    const { credentials, start, clock, answer } = create();
    await start(valuesOf({ acme: 'old' }));
    clock.advance(300_000);
    credentials.find(acme);
    await answer(new Error('unreachable'));
    clock.advance(3_600_000);
    expect(credentials.find(acme)).toEqual({ headers: { authorization: 'Bearer old' } });
  });

  it('keep serving as they were when the secret becomes unreadable, and stop when it is taken away', async () => {
    const { credentials, start, clock, answer, lines } = create();
    await start(valuesOf({ acme: 'old' }));
    clock.advance(10_000);
    void credentials.refresh();
    await answer({ kind: 'unreadable' });
    expect(credentials.find(acme)).toEqual({ headers: { authorization: 'Bearer old' } });
    expect(lines.join()).toContain('provider_secret_unreadable');
    clock.advance(10_000);
    void credentials.refresh();
    await answer({ kind: 'absent' });
    expect(credentials.find(acme)).toBeUndefined();
  });

  it('are read at once when a provider refused one, though not again within ten seconds', async () => {
    const { credentials, start, reads, clock, answer } = create();
    await start(valuesOf({ acme: 'old' }));
    clock.advance(9_999);
    await credentials.refresh();
    expect(reads).toHaveLength(1);
    clock.advance(1);
    const refreshed = Promise.all([credentials.refresh(), credentials.refresh()]);
    await answer(valuesOf({ acme: 'new' }));
    await refreshed;
    expect(reads).toHaveLength(2);
    expect(credentials.find(acme)).toEqual({ headers: { authorization: 'Bearer new' } });
  });

  it('that cannot be read at once leave the old ones, and no call sees an error', async () => {
    const { credentials, start, clock, answer } = create();
    await start(valuesOf({ acme: 'old' }));
    clock.advance(10_000);
    const refreshed = credentials.refresh();
    await answer(new Error('unreachable'));
    await expect(refreshed).resolves.toBeUndefined();
    expect(credentials.find(acme)).toEqual({ headers: { authorization: 'Bearer old' } });
  });

  it('for requests signed with AWS credentials are none of this source', async () => {
    const { credentials, start } = create();
    await start(valuesOf({ acme: 'key-1' }));
    expect(credentials.find(provider({ sigv4: { service: 'bedrock', region: 'eu-west-1' } }))).toBeUndefined();
  });
});

describe('one secret', () => {
  const secretId = 'gw/dev/providers';
  const acme = { auth: { bearer: { secret: 'acme' } } } as ProviderDocument;
  const holding = (SecretString: string): ScriptedBehaviour => answer({ Name: secretId, SecretString });

  const formerEndpoint = process.env.AWS_ENDPOINT_URL_SECRETS_MANAGER;
  let server: ScriptedServer;
  afterEach(async () => {
    process.env.AWS_ENDPOINT_URL_SECRETS_MANAGER = formerEndpoint ?? '';
    await server.stop();
  });

  async function readyStage(behaviour: ScriptedBehaviour): Promise<TestStage> {
    server = await startScriptedServer([behaviour]);
    process.env.AWS_ENDPOINT_URL_SECRETS_MANAGER = server.endpoint;
    const stage = testStage({ GW_PROVIDER_SECRET: secretId });
    await stage.credentials.ready();
    return stage;
  }

  describe('the provider secret', () => {
    it.each([
      ['as a text over several lines', (account: string): unknown => account],
      ['as the JSON that it is', (account: string): unknown => JSON.parse(account)],
    ])('with a service account in it %s gets tokens of Google', async (_how, textOf) => {
      const endpoint = await startTokenEndpoint();
      const stage = await readyStage(holding(JSON.stringify({ vertex: textOf(endpoint.account()) })));
      const found = stage.credentials.find({ id: 'v', auth: { gcp: { secret: 'vertex' } } } as ProviderDocument);
      const signedHeaders = await found?.sign?.({
        url: new URL('https://v.example/x'),
        headers: { a: 'b' },
        body: '{}',
      });
      expect(signedHeaders).toEqual({ a: 'b', authorization: 'Bearer token-1' });
      expect(endpoint.requests.map(({ isSigned }) => isSigned)).toEqual([true]);
      // The secret is no API key, so no header can be made from it.
      expect(stage.credentials.find({ auth: { bearer: { secret: 'vertex' } } } as ProviderDocument)).toBeUndefined();
      await endpoint.stop();
    });

    it('gives the credential that is in it under the name, and asks for no other secret', async () => {
      const { credentials } = await readyStage(holding('{"acme":"sk-acme-key"}'));
      expect(credentials.find(acme)).toEqual({ headers: { authorization: 'Bearer sk-acme-key' } });
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
    ] as const satisfies readonly (readonly [string, ScriptedBehaviour, string])[])(
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
});
