// What a local start does with a store that is not empty, and what it prints.

import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { json } from 'node:stream/consumers';
import { stringify } from 'yaml';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { startDynamoEngine } from '../../infra/dynamodb-engine/start-engine.ts';
import { isDemoCatalogue } from '../../infra/local/demo/demo-file.ts';
import { demoTraffic, startDemoTraffic } from '../../infra/local/demo/demo-traffic.ts';
import type { Simulator } from '../../infra/local/simulator/index.ts';
import { type StartOptions, startLocalGateway } from '../../infra/local/start-local-gateway.ts';
import { createKeyStore, createOperatorStore, parseApiKey } from '../../shared/configuration/keys/index.ts';
import { createWorkspaceStore } from '../../shared/configuration/workspaces/index.ts';
import { canonicalJson, sha256Hex, systemRandomness } from '../../shared/foundation/ids/index.ts';
import { type Clock, systemClock } from '../../shared/foundation/time/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';
import { describeOnDynamo } from '../support/dynamodb.ts';
import { testCertificate, trustTestCertificate } from '../support/forward-proxy.ts';
import { newKey } from '../support/gateway-file.ts';
import { callOn, openSession } from '../support/raw-http2.ts';
import { expiredCertificate, futureCertificate } from '../support/refused-certificates.ts';
import { sendJson, startScriptedProvider } from '../support/scripted-provider.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTestSimulator } from '../support/test-simulator.ts';
import { startTestStore } from '../support/test-store.ts';

const publishedKey = 'sk-gw-demodemodemodemo-demodemodemodemodemodemodemodemodemodemokey2Jc7YM';
const realKeyName = 'OPENAI_API_KEY';

let simulator: Simulator;
let folder: string;
/** The data folder of every gateway that names no other folder. */
let data: string;
let store: Store;
let closeStore: () => Promise<void>;
const running: Awaited<ReturnType<typeof startLocalGateway>>[] = [];
const knownVariables = [
  ...[realKeyName, 'GROQ_API_KEY', 'MISTRAL_API_KEY', 'DEEPSEEK_API_KEY'],
  ...['ANTHROPIC_API_KEY', 'GEMINI_API_KEY'],
];
const former = knownVariables.map((name) => [name, process.env[name]] as const);

beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterAll(() => simulator.stop());
beforeEach(async () => {
  for (const name of knownVariables) delete process.env[name];
  folder = temporaryFolder();
  data = join(folder, 'data');
  ({ store, stop: closeStore } = await startTestStore(data));
});
afterEach(async () => {
  for (const gateway of running.splice(0)) await gateway.stop();
  await closeStore();
  for (const [name, value] of former) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

interface Started {
  readonly url: string;
  readonly lines: readonly string[];
  stop(): Promise<void>;
}

async function start(options: Partial<StartOptions> = {}): Promise<Started> {
  const lines: string[] = [];
  const log = 'off' as const;
  const defaults = { port: 0, config: undefined, data, dynamodb: undefined, log };
  const gateway = await startLocalGateway({ ...defaults, ...options }, (line) => lines.push(line));
  running.push(gateway);
  return {
    url: gateway.url,
    lines,
    async stop() {
      running.splice(running.indexOf(gateway), 1);
      await gateway.stop();
    },
  };
}

function writeFile(text: string): string {
  const path = join(folder, 'gateway.yaml');
  writeFileSync(path, text);
  return path;
}

const model = (provider: string, more: object = {}) => ({
  provider,
  upstream_model: 'echo',
  input_price_per_million: '1.00',
  output_price_per_million: '2.00',
  context_length: 8_000,
  ...more,
});

/** Returns a small gateway file for the simulator; `key` is its workspace's key. */
function ownFile(
  key: string,
  more: { workspace?: object; key?: object; auth?: unknown; provider?: object; models?: string[] } = {},
): string {
  const { models = ['own/chat'], provider } = more;
  return stringify({
    providers: [{ id: 'own', base_url: simulator.urlOf('own'), auth: more.auth ?? 'none', ...provider }],
    models: models.map((id) => ({ id, providers: [model('own')] })),
    workspaces: [{ id: 'team', credit_usd: '5', keys: [{ name: 'ci', key, ...more.key }], ...more.workspace }],
  });
}

const statusOf = async (url: string, key: string) =>
  (await fetch(`${url}/models`, { headers: { authorization: `Bearer ${key}` } })).status;

interface Listed {
  readonly id: string;
  readonly apis?: readonly string[];
}

async function listModels(url: string, key: string): Promise<readonly Listed[]> {
  const response = await fetch(`${url}/models`, { headers: { authorization: `Bearer ${key}` } });
  return ((await response.json()) as { data: Listed[] }).data;
}

const modelsOf = async (url: string, key: string) => (await listModels(url, key)).map(({ id }) => id);

/** Returns a hash of everything that a gateway file and the operator write. */
async function storedState(): Promise<string> {
  const items: unknown[] = [];
  for (const table of ['config', 'keys', 'connections', 'functions', 'ledger'] as const) {
    for await (const item of store.scan(table)) items.push(canonicalJson(readable(item)));
  }
  return sha256Hex(items.sort().join());
}

const readable = (item: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, value instanceof Uint8Array ? sha256Hex(value) : String(value)]),
  );

const curlOf = ({ lines }: Started) => lines.filter((line) => line.startsWith('curl '));

/** Makes the call of a curl line. */
async function callFromLine(line: string, variables: Record<string, string> = {}) {
  const [, url = '', authorization = '', body = ''] =
    /^curl (\S+) -H "Authorization: ([^"]+)" -H "Content-Type: application\/json" -d '(.*)'$/.exec(line) ?? [];
  const headers = {
    authorization: authorization.replace(/\$(\w+)/g, (_text, name: string) => variables[name] ?? ''),
    'content-type': 'application/json',
  };
  return fetch(url, { method: 'POST', headers, body });
}

describe('a start without --config', () => {
  it('on a store that holds something else than the demo serves it as it is and changes nothing', async () => {
    const key = newKey();
    await (await start({ config: writeFile(ownFile(key)) })).stop();
    const before = await storedState();
    const started = await start();
    expect(await modelsOf(started.url, key)).toEqual(['auto', 'own/chat']);
    expect(await statusOf(started.url, publishedKey)).toBe(401);
    expect(await storedState()).toBe(before);
    expect(started.lines).toContainEqual(expect.stringContaining('serving what the store holds'));
    expect(started.lines.join('\n')).not.toContain('demo key');
  });

  it('on a store of the demo serves the demo again, and keeps what was changed in its workspace', async () => {
    const first = await start();
    expect(await statusOf(first.url, publishedKey)).toBe(200);
    await createWorkspaceStore(store).write({ id: 'demo', spend_limit_usd: '3', features: { presets: false } });
    await first.stop();
    const again = await start();
    const [line = ''] = curlOf(again);
    expect((await callFromLine(line)).status).toBe(200);
    expect(await createWorkspaceStore(store).read('demo')).toMatchObject({
      spend_limit_usd: '3',
      features: { byok: true, presets: false },
    });
  });
});

describe('the calls that the demo makes of its own', () => {
  const usageOf = async (url: string): Promise<number> => {
    const answer = await fetch(`${url}/credits`, { headers: { authorization: `Bearer ${publishedKey}` } });
    return Number(((await answer.json()) as { data: { total_usage: string } }).data.total_usage);
  };

  it('are made only when asked for, are served like those of a client, and end with the gateway', async () => {
    const quiet = await start();
    expect(quiet.lines.join('\n')).not.toContain('traffic');
    expect(await usageOf(quiet.url)).toBe(0);
    await quiet.stop();
    const { url, lines, stop } = await start({ demoTraffic: true });
    expect(lines).toContain(`demo traffic: ${demoTraffic.callsMax} calls at most`);
    while ((await usageOf(url)) === 0);
    // Stopping waits for the calls to end.
    await stop();
  });

  it('are not made if real providers may be behind the models', async () => {
    const file = writeFile(ownFile(newKey()));
    const { lines, stop } = await start({ config: file, demoTraffic: true });
    expect(lines).toContain('no demo traffic: this is not the demo');
    expect(simulator.calls).toEqual([]);
    await stop();
  });

  it('are as many as their bound, over every simulated model, and some of them must fail', async () => {
    const requests: { model: string; provider?: object }[] = [];
    const server = createHttpServer(async (request, response) => {
      requests.push((await json(request)) as { model: string; provider?: object });
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    let pausesMs = 0;
    const after: Clock['after'] = (delayMs, run) => {
      pausesMs += delayMs;
      queueMicrotask(run);
      return () => {};
    };
    await startDemoTraffic(url, publishedKey, { ...systemClock, after }).ended;
    server.close();
    expect(requests).toHaveLength(demoTraffic.callsMax);
    expect(pausesMs).toBe((demoTraffic.callsMax - demoTraffic.callsAtOnce + 1) * demoTraffic.pauseMs);
    const models = new Set(requests.map(({ model }) => model));
    expect([...models]).toEqual(expect.arrayContaining(['demo/chat', 'demo/reasoning', 'demo/tools', 'demo/fallback']));
    expect(requests.filter(({ provider }) => provider !== undefined).length).toBeGreaterThan(demoTraffic.callsMax / 20);
  });
});

describe('the demo', () => {
  it('has a model for each interface, at a provider that is simulated in all of them', async () => {
    const { url } = await start();
    const modelList = (await listModels(url, publishedKey)).filter(({ id }) => id !== 'auto');
    const words = ['chat-completions', 'messages', 'responses'];
    expect(modelList.map(({ id, apis }) => [id, apis])).toEqual([
      ...['demo/chat', 'demo/reasoning', 'demo/tools', 'demo/fallback'].map((id) => [
        id,
        expect.arrayContaining(words),
      ]),
      ['demo/embedding', ['embeddings']],
      ['demo/image', ['images']],
      ['demo/moderation', ['moderations']],
      ['demo/rerank', ['rerank']],
      ['demo/speech', ['speech']],
      ['demo/transcription', ['transcriptions']],
    ]);
  });

  it('has a guardrail of the simulator, for the keys that name it alone', async () => {
    const { url } = await start();
    const say = async (key: string, content: string) => {
      const body = JSON.stringify({ model: 'demo/chat', messages: [{ role: 'user', content }] });
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const answer = await fetch(`${url}/chat/completions`, { method: 'POST', headers, body });
      return { status: answer.status, text: await answer.text() };
    };
    const keys = createKeyStore(store);
    const guarded = newKey();
    const published = await keys.read(parseApiKey(publishedKey)?.publicId ?? '');
    const parsed = parseApiKey(guarded);
    if (published === undefined || parsed === undefined) throw new Error('the demo has no key');
    await keys.write({ ...published, ...parsed, name: 'guarded', guardrails: ['demo-words'] });
    expect(await say(guarded, 'a forbidden word')).toMatchObject({
      status: 400,
      text: expect.stringContaining('demo-words'),
    });
    expect((await say(guarded, 'write to me@acme.io')).text).toContain('{EMAIL}');
    expect((await say(publishedKey, 'a forbidden word')).status).toBe(200);
  });

  it('is known again if an earlier release stored it, with fewer providers and models', () => {
    const acme = { id: 'acme', display_name: 'Acme AI (simulated)' };
    const globex = { id: 'globex', display_name: 'Globex (simulated)' };
    const models = [{ id: 'demo/chat' }];
    expect(isDemoCatalogue({ providers: [acme, globex], models })).toBe(true);
    expect(isDemoCatalogue({ providers: [acme, { id: 'own', display_name: 'Own' }], models })).toBe(false);
    expect(isDemoCatalogue({ providers: [{ ...acme, display_name: 'Acme' }], models })).toBe(false);
    expect(isDemoCatalogue({ providers: [acme, globex], models: [{ id: 'own/chat' }] })).toBe(false);
  });
});

describe('the demo key', () => {
  const keyOf = ({ lines }: Started) => /^demo key: (\S+)$/m.exec(lines.join('\n'))?.[1] ?? '';

  it('is the published one while every provider is simulated', async () => {
    const started = await start();
    expect(keyOf(started)).toBe(publishedKey);
    expect(started.lines.slice(0, 2)).toEqual([`ready ${started.url}`, `demo key: ${publishedKey}`]);
    const openAiUrl = started.url.replace(/\/v1$/, '/openai/v1');
    expect(started.lines).toContainEqual(`base URL for OpenAI's SDKs and frameworks: ${openAiUrl}`);
    expect(started.lines).toContainEqual(
      `base URL for Claude Code and Anthropic's SDKs: ${new URL(started.url).origin}`,
    );
    expect(started.lines.at(-1)).toBe(`command line: npm run gw -- status --data ${data}`);
  });

  it('is random and new at each start as soon as a real provider is offered, and no former one opens anything', async () => {
    const simulated = await start();
    await simulated.stop();
    process.env[realKeyName] = 'sk-of-a-real-provider';
    const first = await start();
    expect(await statusOf(first.url, publishedKey)).toBe(401);
    expect(first.lines).toContainEqual(expect.stringMatching(/^note: the published demo key is revoked/));
    expect(await statusOf(first.url, keyOf(first))).toBe(200);
    expect(await modelsOf(first.url, keyOf(first))).toContain('openai/gpt-4.1');
    await first.stop();
    const second = await start();
    expect(keyOf(second)).not.toBe(keyOf(first));
    expect([await statusOf(second.url, keyOf(first)), await statusOf(second.url, keyOf(second))]).toEqual([401, 200]);
    expect(second.lines.join('\n')).not.toContain('sk-of-a-real-provider');
  });

  it.each([
    ['ANTHROPIC_API_KEY', 'anthropic', 'messages', 'anthropic/claude-sonnet-4.5'],
    ['GEMINI_API_KEY', 'gemini', 'generate-content, embeddings, images', 'gemini/gemini-2.5-flash'],
  ])('offers, with %s, models of %s, which speaks %s', async (variable, provider, api, model) => {
    process.env[variable] = 'key-of-a-real-provider';
    const started = await start();
    expect(keyOf(started)).not.toBe(publishedKey);
    expect(started.lines).toContain(`provider ${provider} speaks ${api}`);
    expect(started.lines.filter((line) => line.includes('is not configured'))).toEqual([]);
    expect(started.lines.join('\n')).not.toContain('key-of-a-real-provider');
    expect(await modelsOf(started.url, keyOf(started))).toContain(model);
  });

  it('that was revoked is not used again when no real provider is offered any more: another one is made', async () => {
    process.env[realKeyName] = 'sk-of-a-real-provider';
    await (await start()).stop();
    delete process.env[realKeyName];
    // The published key was not stored while a real provider was available, so it may be used now.
    const simulated = await start();
    expect(keyOf(simulated)).toBe(publishedKey);
    const keys = createKeyStore(store);
    const record = await keys.read(parseApiKey(publishedKey)?.publicId ?? '');
    if (record === undefined) throw new Error('the published key must be stored');
    await keys.write({ ...record, status: 'revoked' });
    await simulated.stop();
    // The published key is never used again after it was revoked.
    const after = await start();
    expect(keyOf(after)).not.toBe(publishedKey);
    expect(await statusOf(after.url, publishedKey)).toBe(401);
    expect(after.lines).toContainEqual(expect.stringMatching(/^note: the published demo key was revoked and stays/));
    const [line = ''] = curlOf(after);
    expect((await callFromLine(line)).status).toBe(200);
  });
});

describe('the console of a local start', () => {
  const consoleOf = ({ lines }: Started) => lines.find((line) => line.startsWith('console ')) ?? '';
  const keyIn = (started: Started) => /#key=(\S+)$/.exec(consoleOf(started))?.[1] ?? '';

  it('is printed with an operator key that is new at each start of the demo, and no former one stays active', async () => {
    const first = await start();
    expect(consoleOf(first)).toBe(`console ${new URL('/console', first.url).href}#key=${keyIn(first)}`);
    await first.stop();
    const second = await start();
    expect(keyIn(second)).not.toBe(keyIn(first));
    const statuses = new Map<string, string>();
    for await (const { publicId, status } of createOperatorStore(store).list()) statuses.set(publicId, status);
    const statusOf = (key: string) => statuses.get(parseApiKey(key)?.publicId ?? '');
    expect([statusOf(keyIn(first)), statusOf(keyIn(second))]).toEqual(['revoked', 'active']);
    // An operator's key cannot call a model.
    expect(
      (await fetch(`${second.url}/models`, { headers: { authorization: `Bearer ${keyIn(second)}` } })).status,
    ).toBe(401);
  });

  it('needs a key that the command line makes if a store of its own is served', async () => {
    const started = await start({ config: writeFile(ownFile(newKey())) });
    expect(consoleOf(started)).toBe(
      `console ${new URL('/console', started.url).href} with an operator key: npm run gw -- operators create --name NAME --data ${data}`,
    );
    expect(started.lines.join('\n')).not.toContain('#key=');
  });
});

describe('the published key in a store that a file has changed since', () => {
  const variable = 'GW_TEST_REAL_KEY';
  afterEach(() => {
    delete process.env[variable];
  });

  it.each([
    ['with the file', true],
    ['without it', false],
  ])('is revoked by a start %s once a provider with a credential can be called', async (_title, givesFile) => {
    await (await start()).stop();
    const file = writeFile(ownFile(newKey(), { auth: { bearer: { env: variable } } }));
    const unset = await start({ config: file });
    // Without the variable no call can cost anything.
    expect(await statusOf(unset.url, publishedKey)).toBe(200);
    await unset.stop();
    process.env[variable] = 'sk-of-a-real-provider';
    const started = await start({ config: givesFile ? file : undefined });
    expect(await statusOf(started.url, publishedKey)).toBe(401);
    expect(started.lines).toContainEqual(expect.stringMatching(/^note: the published demo key is revoked/));
  });

  it('is revoked by a start with the file once a provider without a credential is not simulated', async () => {
    const demo = await start();
    expect(await statusOf(demo.url, publishedKey)).toBe(200);
    const started = await start({ config: writeFile(ownFile(newKey())) });
    expect(started.lines).toContainEqual(expect.stringMatching(/^note: the published demo key is revoked/));
    expect(await statusOf(demo.url, publishedKey)).toBe(401);
  });
});

describe('a start with a file', () => {
  it('names what the file takes away, one line each, and nothing if it takes nothing', async () => {
    const key = newKey();
    const full = { models: ['own/chat', 'own/large', 'own/old'] };
    await (await start({ config: writeFile(ownFile(key, full)) })).stop();
    const smaller = await start({ config: writeFile(ownFile(key, { key: { status: 'revoked' } })) });
    expect(smaller.lines.filter((line) => line.startsWith('takes away: '))).toEqual([
      'takes away: models[own/large] of catalogue',
      'takes away: models[own/old] of catalogue',
      'takes away: key ci of team is revoked',
    ]);
    await smaller.stop();
    const same = await start({ config: writeFile(ownFile(key, { key: { status: 'revoked' } })) });
    expect(same.lines.join('\n')).not.toContain('takes away');
  });

  it('does not use a revoked key again, whatever the file says, and says so', async () => {
    const key = newKey();
    const file = ownFile(key, { key: { status: 'active' } });
    await (await start({ config: writeFile(file) })).stop();
    const keys = createKeyStore(store);
    const record = await keys.read(parseApiKey(key)?.publicId ?? '');
    if (record === undefined) throw new Error('the key must be stored');
    await keys.write({ ...record, status: 'revoked' });
    const started = await start({ config: writeFile(file) });
    expect(await statusOf(started.url, key)).toBe(401);
    expect(started.lines).toContain('note: key ci of team was revoked and stays revoked');
    expect(curlOf(started)).toEqual([]);
    expect(started.lines).toContainEqual(expect.stringContaining('there is no active key: npm run gw -- keys create'));
  });

  it('prints a curl line that succeeds, with the key if it was just made', async () => {
    const text = ownFile(newKey(), { workspace: { keys: [{ name: 'made' }] } });
    const started = await start({ config: writeFile(text) });
    const [line = ''] = curlOf(started);
    expect((await callFromLine(line)).status).toBe(200);
    await started.stop();
    // The text of the key is not known any more, so the line reads it from a variable.
    const again = await start({ config: writeFile(text) });
    const key = /shown once\): (\S+)/.exec(started.lines.join('\n'))?.[1] ?? '';
    expect(again.lines.join('\n')).not.toContain(key);
    expect(again.lines).toContain('with key made of team in the variable GW_API_KEY:');
    const [placeholder = ''] = curlOf(again);
    expect((await callFromLine(placeholder, { GW_API_KEY: key })).status).toBe(200);
  });

  it.each<[string, Parameters<typeof ownFile>[1], RegExp | undefined]>([
    [
      'a provider lacks its variable',
      { auth: { bearer: { env: 'GW_TEST_UNSET' } } },
      /^note: provider own is not configured: GW_TEST_UNSET is not set$/,
    ],
    [
      'a provider lacks the variable of its own header, and its interfaces are told',
      { auth: { header: { name: 'x-api-key', env: 'GW_TEST_UNSET' } }, provider: { apis: ['messages', 'converse'] } },
      /^(provider own speaks messages, converse|note: provider own is not configured: GW_TEST_UNSET is not set)$/,
    ],
    [
      'a workspace has no credit',
      { workspace: { credit_usd: '0' } },
      /^note: workspace team has no credit: npm run gw -- credits add team 10 --data /,
    ],
    // 8,000 tokens of output at 2.00 a million cost at most 0.016.
    ['the credit does not cover a call', { workspace: { credit_usd: '0.001' } }, undefined],
    ['the spend limit of the key does not cover a call', { key: { spend_limit_usd: '0.001' } }, undefined],
    ['the workspace may use no model', { workspace: { models: [] } }, undefined],
    ['the policy of the workspace excludes the provider', { workspace: { data_policy: { zdr: true } } }, undefined],
    ['the key has expired', { key: { expires_at: '2020-01-01' } }, /^note: there is no active key/],
  ])('prints no curl line if it cannot succeed: %s', async (_title, more, note) => {
    const started = await start({ config: writeFile(ownFile(newKey(), more)) });
    expect(curlOf(started)).toEqual([]);
    if (note !== undefined) expect(started.lines).toContainEqual(expect.stringMatching(note));
  });

  it('that is not valid, or cannot become what is stored, is refused with a line per problem, and nothing changes', async () => {
    const key = newKey();
    await (await start({ config: writeFile(ownFile(key)) })).stop();
    const before = await storedState();
    const wrong = writeFile(ownFile(key).replaceAll('provider: own', 'provider: owm').replace('credit_usd', 'credits'));
    await expect(start({ config: wrong })).rejects.toMatchObject({
      lines: [
        expect.stringMatching(/gateway\.yaml: models\[0\]\.providers\[0\]\.provider: .* own\? \(line \d+\)$/),
        expect.stringMatching(/gateway\.yaml: workspaces\[0\]\.credits: is not known here; .*\(line \d+\)$/),
      ],
    });
    const movedFile = ownFile(key, { workspace: { id: 'other' } });
    await expect(start({ config: writeFile(movedFile) })).rejects.toMatchObject({
      lines: [expect.stringMatching(/gateway\.yaml: workspaces\[0\]\.keys\[0\]\.key: this key already exists/)],
    });
    expect(await storedState()).toBe(before);
  });
});

describe('the address', () => {
  it('that is taken is refused in one line, before the file is applied', async () => {
    const key = newKey();
    await (await start({ config: writeFile(ownFile(key)) })).stop();
    const before = await storedState();
    const otherServer = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => otherServer.once('listening', resolve));
    const { port } = otherServer.address() as { port: number };
    await expect(start({ port, config: writeFile(ownFile(key, { models: ['own/other'] })) })).rejects.toThrow(
      `port ${port} is in use; choose another with --port`,
    );
    await new Promise((resolve) => otherServer.close(resolve));
    expect(await storedState()).toBe(before);
  });

  it('is that of --host', async () => {
    const started = await start({ host: '127.0.0.2' });
    expect(started.url).toMatch(/^http:\/\/127\.0\.0\.2:\d+\/v1$/);
    expect(await statusOf(started.url, publishedKey)).toBe(200);
    await expect(start({ host: 'no.such.host.invalid' })).rejects.toThrow(/^cannot listen on no\.such\.host\.invalid/);
  });

  it('that is every one of the machine is said to be open to others', async () => {
    const started = await start({ host: '0.0.0.0' });
    expect(started.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    expect(started.lines).toContainEqual('listening on 0.0.0.0: other machines can call this gateway');
  });
});

describeOnDynamo('gateways on one --dynamodb, started in different folders', () => {
  let dynamo: Awaited<ReturnType<typeof startDynamoEngine>>;
  beforeEach(async () => {
    dynamo = await startDynamoEngine();
  });
  afterEach(async () => {
    for (const gateway of running.splice(0)) await gateway.stop();
    await dynamo.stop();
  });
  const startIn = (name: string, config?: string) =>
    start({ data: join(folder, name), dynamodb: dynamo.endpoint, config });

  it('serve each other’s large answers', async () => {
    const key = newKey();
    const content = systemRandomness.bytes(500_000).toString('base64');
    const provider = await startScriptedProvider((outgoing) => {
      const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }];
      sendJson(outgoing, JSON.stringify({ object: 'chat.completion', choices }));
    });
    const config = writeFile(ownFile(key, { provider: { base_url: provider.url } }));
    const gateways = [await startIn('one', config), await startIn('two')];
    const answers: string[] = [];
    for (const { url } of gateways) {
      const headers = {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': 'large',
      };
      const body = JSON.stringify({ model: 'own/chat', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 9 });
      const response = await fetch(`${url}/chat/completions`, { method: 'POST', headers, body });
      expect(response.status).toBe(200);
      answers.push(await response.text());
    }
    expect(answers[1] === answers[0] && answers[0]?.includes(content)).toBe(true);
    expect(provider.bodies).toHaveLength(1);
    await provider.stop();
  });

  it('start only with the master key with which keys of the store were sealed, and say in one line where it belongs', async () => {
    process.env.OWN_BYOK = 'sk-own';
    const byok = { connections: [{ provider: 'own', key: { env: 'OWN_BYOK' }, policy: 'allowed' }] };
    const workspace = { features: { byok: true }, byok };
    const auth = { bearer: { env: 'OWN_BYOK' } };
    const [one, two] = [join(folder, 'sealing'), join(folder, 'other')];
    await startIn(
      'sealing',
      writeFile(ownFile(newKey(), { auth, workspace, provider: { accepts_byok_header: true } })),
    );
    await expect(startIn('other')).rejects.toThrow(
      `the key of the BYOK connection team/own was sealed with another master key: copy byok-master.key of the gateway that sealed it to ${join(two, 'byok-master.key')}, or start in the folder of that gateway`,
    );
    cpSync(join(one, 'byok-master.key'), join(two, 'byok-master.key'));
    await startIn('other');
  });
});

describe('the folder of --data', () => {
  it('is served by several gateways, each of which keeps what the other has stored', async () => {
    const key = newKey();
    const config = writeFile(ownFile(key));
    const [first, second] = [await start({ config }), await start()];
    const callsBefore = simulator.calls.length;
    const answers: string[] = [];
    for (const { url } of [first, second]) {
      const body = JSON.stringify({ model: 'own/chat', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 9 });
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': 'one' };
      const response = await fetch(`${url}/chat/completions`, { method: 'POST', headers, body });
      answers.push(`${response.status} ${await response.text()}`);
    }
    expect(answers[1]).toBe(answers[0]);
    expect(answers[0]).toMatch(/^200 /);
    expect(simulator.calls).toHaveLength(callsBefore + 1);
  });

  it('backed up by SQLite while a gateway runs holds the last write, which is in the write-ahead log alone', async () => {
    const copy = join(folder, 'backup');
    const key = newKey();
    await start({ config: writeFile(ownFile(key)) });
    mkdirSync(copy, { mode: 0o700 });
    const tables = new DatabaseSync(join(data, 'gw.sqlite'), { readOnly: true });
    await backup(tables, join(copy, 'gw.sqlite'));
    tables.close();
    cpSync(join(data, 'byok-master.key'), join(copy, 'byok-master.key'));
    const restored = await start({ data: copy });
    expect(await modelsOf(restored.url, key)).toEqual(['auto', 'own/chat']);
  });
});

it('the files in the folder of --data are readable by their owner alone, and so is a folder that the gateway makes', async () => {
  const [existingFolder, newFolder] = [join(folder, 'given'), join(folder, 'made')];
  mkdirSync(existingFolder, { mode: 0o755 });
  writeFileSync(join(existingFolder, 'gw.sqlite'), '', { mode: 0o644 });
  for (const data of [existingFolder, newFolder]) await start({ data });
  const modes = (path: string): string[] => {
    const { mode } = statSync(path);
    const openModes = (mode & 0o077) === 0 ? [] : [`${path} ${(mode & 0o777).toString(8)}`];
    return statSync(path).isDirectory()
      ? [...openModes, ...readdirSync(path).flatMap((name) => modes(join(path, name)))]
      : openModes;
  };
  expect(readdirSync(newFolder)).toEqual(expect.arrayContaining(['gw.sqlite', 'byok-master.key']));
  expect(modes(newFolder)).toEqual([]);
  expect(modes(existingFolder)).toEqual([`${existingFolder} 755`]);
});

describe('a start with --tls', () => {
  const paths = ({ cert = '', key = '' }: { cert?: string; key?: string }) => {
    const [certificate, keyFile] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
    writeFileSync(certificate, cert);
    writeFileSync(keyFile, key);
    return { certificate, key: keyFile };
  };

  it('serves HTTPS, which its ready line and its console say; without it a start serves HTTP/2 in clear too', async () => {
    const distrust = trustTestCertificate();
    const { url, lines } = await start({ tls: paths(testCertificate) });
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/v1$/);
    expect(lines).toContain(`ready ${url}`);
    expect(lines.filter((line) => line.includes('http://'))).toEqual([]);
    expect(lines.filter((line) => line.startsWith('note:'))).toEqual([]);
    expect((await fetch(new URL('/health', url))).status).toBe(200);
    expect(await (await fetch(new URL('/', url))).json()).toMatchObject({ base_url: url });
    distrust();
    const clear = await start();
    const session = openSession(Number(new URL(clear.url).port));
    expect(await callOn(session, { ':path': '/v1/models' })).toMatchObject({ status: 401 });
    expect(await callOn(session, { ':path': '/health' })).toMatchObject({ status: 200 });
    session.destroy();
  });

  it.each([
    ['expired on 2021-01-01', expiredCertificate],
    ['is not valid before 2100-01-01', futureCertificate],
  ])('says that a certificate %s, and serves', async (words, files) => {
    const tls = paths(files);
    const { url, lines } = await start({ tls });
    expect(lines).toContain(`note: the certificate in ${tls.certificate} ${words}`);
    expect(lines).toContain(`ready ${url}`);
  });

  it('has one line for a fault of either file, and changes nothing', async () => {
    const { cert, key } = testCertificate;
    const sealedPem = createPrivateKey(key).export({
      ...{ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' },
    } as never);
    const faults = [
      [{ cert: 'none', key }, /certificate\.pem has no certificate in PEM form$/],
      [
        { cert: key, key: cert },
        /certificate\.pem has no certificate in PEM form; the certificate comes first: --tls /,
      ],
      [{ cert, key: '' }, /key\.pem has no private key in PEM form$/],
      [{ cert, key: String(sealedPem) }, /key\.pem has a key that needs a passphrase: write it without one$/],
      [{ cert, key: expiredCertificate.key }, /the key in \S+ is not that of the certificate in \S+$/],
      [{ cert: `${cert}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----`, key }, /cannot be used: \S+/],
    ] as const;
    for (const [files, line] of faults) {
      await expect(start({ tls: paths(files), config: writeFile(ownFile(newKey())) })).rejects.toThrow(line);
    }
    const tls = paths(testCertificate);
    await expect(start({ tls: { ...tls, key: join(folder, 'absent') } })).rejects.toThrow(/^--tls: there is no file /);
    await expect(start({ tls: { ...tls, certificate: folder } })).rejects.toThrow(/ cannot be read \(EISDIR\)$/);
    expect(await createWorkspaceStore(store).read('team')).toBeUndefined();
  });
});
