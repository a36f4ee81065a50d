import { afterEach, beforeEach, describe, expect, it, jest } from '#jest';
import { defaultProvider } from '../../../infra/build/bundled-credential-chain.ts';
import { type Behaviour, type ScriptedServer, startScriptedServer } from '../../support/scripted-server.ts';

const former = { ...process.env };
let server: ScriptedServer | undefined;
beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
});
afterEach(async () => {
  jest.restoreAllMocks();
  process.env = { ...former };
  await server?.stop();
  server = undefined;
});

/** As the endpoint of a container answers. */
const credentialsOf = (AccessKeyId: string, livesMs: number): Behaviour => ({
  status: 200,
  body: {
    AccessKeyId,
    SecretAccessKey: 'secret',
    Token: 'token',
    Expiration: new Date(Date.now() + livesMs).toISOString(),
  },
});

async function startContainer(...behaviours: [Behaviour, ...Behaviour[]]): Promise<ScriptedServer> {
  server = await startScriptedServer(behaviours);
  process.env.AWS_CONTAINER_CREDENTIALS_FULL_URI = `${server.endpoint}/credentials`;
  process.env.AWS_CONTAINER_AUTHORIZATION_TOKEN = 'token of the container';
  return server;
}

describe('the credentials of a bundle', () => {
  it('are those of its variables, before any container is asked', async () => {
    const container = await startContainer(credentialsOf('OTHER', 3_600_000));
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: 'ID',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_SESSION_TOKEN: 'token',
    });
    expect(await defaultProvider()()).toMatchObject({
      accessKeyId: 'ID',
      secretAccessKey: 'secret',
      sessionToken: 'token',
    });
    expect(container.requests).toHaveLength(0);
  });

  it('are asked of the container where no variable holds them, once for as long as they last', async () => {
    const container = await startContainer(credentialsOf('FIRST', 3_600_000));
    const provider = defaultProvider();
    const all = await Promise.all([provider(), provider()]);
    expect([...all, await provider()].map(({ accessKeyId }) => accessKeyId)).toEqual(['FIRST', 'FIRST', 'FIRST']);
    expect(container.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/credentials', 'token of the container'],
    ]);
  });

  it('are asked for again before they end', async () => {
    const container = await startContainer(credentialsOf('FIRST', 3_600_000), credentialsOf('SECOND', 7_200_000));
    const provider = defaultProvider();
    expect((await provider()).accessKeyId).toBe('FIRST');
    const almostOverMs = Date.now() + 3_600_000 - 299_000;
    jest.spyOn(Date, 'now').mockReturnValue(almostOverMs);
    expect((await provider()).accessKeyId).toBe('SECOND');
    expect((await provider()).accessKeyId).toBe('SECOND');
    expect(container.requests).toHaveLength(2);
  });

  it('may come later: a process that found none asks again', async () => {
    const provider = defaultProvider();
    await expect(provider()).rejects.toMatchObject({ name: 'CredentialsProviderError' });
    await startContainer(credentialsOf('LATER', 3_600_000));
    expect((await provider()).accessKeyId).toBe('LATER');
  });
});
