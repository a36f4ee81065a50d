// Two gateway processes on one store in front of one provider process: what is promised of limits holds for both
// together, because neither knows of the other but through the store.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type EmbeddedDynamo, startEmbeddedDynamo } from '../../infra/local/embedded-dynamodb.ts';
import { createDynamoClient, createDynamoStore, type Store } from '../../shared/storage/store/index.ts';
import { gatewayFileText, newKey } from '../support/gateway-file.ts';
import { hello } from '../support/harness.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { eventually } from '../support/watched-clock.ts';

const calls = 24;
const stage = 'local';

/** RATE_LIMITER_UNAVAILABLE. */
const tooLate = 503;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly error: string | undefined;
}

interface Received {
  readonly provider: string;
  readonly model: string;
}

describe('two gateways on one store', () => {
  const folder = temporaryFolder();
  const children: ChildProcess[] = [];
  const key = newKey();
  const rateLimitedKey = newKey();
  let dynamo: EmbeddedDynamo;
  let store: Store;
  let client: ReturnType<typeof createDynamoClient>;
  let simulator: string;
  let gateways: string[];

  /** Starts a program of ours and resolves with what stands behind `word` in a line of its output. */
  async function start(word: string, script: string, ...args: string[]): Promise<string> {
    const child = spawn(process.execPath, [resolve(script), ...args], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    let words = '';
    child.stderr.on('data', (text) => {
      words += text;
    });
    const lines = createInterface(child.stdout);
    const told = Promise.withResolvers<string>();
    lines.on('line', (line) => {
      if (line.startsWith(`${word} `)) told.resolve(line.slice(word.length + 1));
    });
    child.once('exit', (code) => told.reject(new Error(`${script} ended with ${code}: ${words}`)));
    return told.promise;
  }

  beforeAll(async () => {
    const [engine, simulated] = await Promise.all([
      startEmbeddedDynamo({ log: () => {} }),
      start('simulator', 'infra/local/simulator/main.ts', '--port', '0', '--pace-ms', '0'),
    ]);
    dynamo = engine;
    simulator = simulated.slice(0, -'/v1'.length);
    client = createDynamoClient({ endpoint: dynamo.endpoint });
    store = createDynamoStore({ client, stage });
    const file = join(folder, 'gateway.yaml');
    const parts = {
      models: {
        'acme/requests': [{ provider: 'acme', upstream: 'echo', more: { rate_limit_rpm: 10 } }],
        // Each call is estimated at 100 tokens (22 for its body, 78 of output), and takes them.
        'acme/tokens': [{ provider: 'acme', upstream: 'usage:50:50', more: { rate_limit_tpm: 1_000 } }],
        'acme/open': [{ provider: 'acme', upstream: 'echo:open' }],
        'acme/measured': [{ provider: 'acme', upstream: 'echo:measured' }],
        'acme/unused': [{ provider: 'acme', upstream: 'echo:unused' }],
        'acme/failing': [
          { provider: 'down', upstream: 'error-429:x:500' },
          { provider: 'acme', upstream: 'echo:failing', more: { output_price_per_million: '9' } },
        ],
      },
      service: { queue_ms: 0 },
      moreWorkspaces: [
        { id: 'rateLimited', credit_usd: '5', keys: [{ name: 'rateLimited', key: rateLimitedKey, rpm: 7 }] },
      ],
    };
    writeFileSync(
      file,
      gatewayFileText(parts, (provider) => `${simulator}/${provider}/v1`, key),
    );
    const gateway = () =>
      start('ready', 'infra/local/main.ts', '--port', '0', '--config', file, '--dynamodb', dynamo.endpoint);
    gateways = await Promise.all([gateway(), gateway()]);
  });
  afterAll(async () => {
    const running = children.filter(({ exitCode }) => exitCode === null);
    await Promise.all(
      running.map((child) => {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        return ended;
      }),
    );
    client.destroy();
    await dynamo.stop();
  });

  const post = (at: number, model: string, more: Record<string, unknown> = {}, bearer = key) =>
    fetch(`${gateways[at % gateways.length]}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}` },
      body: JSON.stringify(hello(model, more)),
    });

  /** Once more where a busy machine made the store too slow for a call (503 within 2 seconds). */
  async function postUntilServed(at: number, model: string): Promise<unknown> {
    for (;;) {
      const response = await post(at, model);
      const answer = await response.json();
      if (response.status !== tooLate) return answer;
    }
  }

  /** Sends them to both gateways in turns, all at once. */
  async function crowd(model: string, more: Record<string, unknown> = {}, bearer = key): Promise<readonly Answer[]> {
    await fetch(`${simulator}/simulator/calls`, { method: 'DELETE' });
    const answers = Array.from({ length: calls }, async (_, at) => {
      const response = await post(at, model, more, bearer);
      const { error } = (await response.json()) as { error?: string };
      return { status: response.status, headers: response.headers, error };
    });
    return Promise.all(answers);
  }
  const received = async () => (await (await fetch(`${simulator}/simulator/calls`)).json()) as readonly Received[];

  /** Who was served reached the provider, and no other did. Each call that came too late may have cost one slot. */
  async function expectServed(answers: readonly Answer[], limit: number, error: string): Promise<void> {
    const countOf = (status: number) => answers.filter((answer) => answer.status === status).length;
    const served = countOf(200);
    expect(served).toBeLessThanOrEqual(limit);
    expect(served + countOf(tooLate)).toBeGreaterThanOrEqual(limit);
    expect(served + countOf(tooLate) + countOf(429)).toBe(calls);
    for (const answer of answers.filter(({ status }) => status === 429)) {
      expect(answer.error).toBe(error);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
    expect(await received()).toHaveLength(served);
  }

  it('are two processes at two addresses', () => {
    expect(new Set(gateways).size).toBe(2);
    expect(children.filter(({ pid }) => pid !== undefined)).toHaveLength(3);
  });

  it('tell each other who cools: the second asks no provider that has just told the first to wait', async () => {
    expect(await postUntilServed(0, 'acme/failing')).toMatchObject({ usage: { attempts: 2, provider: 'acme' } });
    await eventually(async () => (await store.get('limits', 'COOLDOWNS')) !== undefined);
    expect(await postUntilServed(1, 'acme/failing')).toMatchObject({ usage: { attempts: 1, provider: 'acme' } });
    expect((await received()).map(({ provider }) => provider)).toEqual(['down', 'acme', 'acme']);
  });

  it('let as many requests through as the provider allows in a minute, together and exactly', async () => {
    await expectServed(await crowd('acme/requests'), 10, 'rate_limited');
  });

  it('let as many tokens through as the provider allows in a minute', async () => {
    await expectServed(await crowd('acme/tokens', { max_tokens: 78 }), 10, 'rate_limited');
  });

  it('let as many requests through as the key allows in a minute', async () => {
    await expectServed(await crowd('acme/open', {}, rateLimitedKey), 7, 'api_key_rate_limit');
  });

  it('hold no call back where there is no limit', async () => {
    await expectServed(await crowd('acme/open'), calls, 'none');
  });

  it('measure for each other: what one saw is in the list of the other, also when it has gone', async () => {
    const [, first] = children;
    for (let call = 1; call <= 3; call += 1) await postUntilServed(0, 'acme/measured');
    const ended = once(first as ChildProcess, 'exit');
    first?.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    const throughputOf = async (model: string): Promise<number> => {
      const response = await fetch(`${gateways[1]}/models`, { headers: { authorization: `Bearer ${key}` } });
      const { data } = (await response.json()) as { data: { id: string; stats?: { throughput_rpm: string } }[] };
      return Number(data.find(({ id }) => id === model)?.stats?.throughput_rpm);
    };
    await eventually(async () => (await throughputOf('acme/measured')) > 0);
    expect(await throughputOf('acme/unused')).toBe(0);
  });
});
