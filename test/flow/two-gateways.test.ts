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

interface Received {
  readonly provider: string;
  readonly model: string;
}

describe('two gateways on one store', () => {
  const folder = temporaryFolder();
  const children: ChildProcess[] = [];
  const key = newKey();
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
        'acme/measured': [{ provider: 'acme', upstream: 'echo:measured' }],
        'acme/unused': [{ provider: 'acme', upstream: 'echo:unused' }],
        'acme/failing': [
          { provider: 'down', upstream: 'error-429:x:500' },
          { provider: 'acme', upstream: 'echo:failing', more: { output_price_per_million: '9' } },
        ],
      },
      service: { queue_ms: 0 },
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

  const post = (at: number, model: string) =>
    fetch(`${gateways[at % gateways.length]}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(hello(model)),
    });

  /** Once more where a busy machine made the store too slow for a call (503 within 2 seconds). */
  async function postUntilServed(at: number, model: string): Promise<unknown> {
    for (;;) {
      const response = await post(at, model);
      const answer = await response.json();
      if (response.status !== tooLate) return answer;
    }
  }

  const received = async () => (await (await fetch(`${simulator}/simulator/calls`)).json()) as readonly Received[];

  it('tell each other who cools: the second asks no provider that has just told the first to wait', async () => {
    expect(await postUntilServed(0, 'acme/failing')).toMatchObject({ usage: { attempts: 2, provider: 'acme' } });
    await eventually(async () => (await store.get('limits', 'COOLDOWNS')) !== undefined);
    expect(await postUntilServed(1, 'acme/failing')).toMatchObject({ usage: { attempts: 1, provider: 'acme' } });
    expect((await received()).map(({ provider }) => provider)).toEqual(['down', 'acme', 'acme']);
  });

  it('let as many requests through as the provider allows in a minute, together and exactly', async () => {
    await fetch(`${simulator}/simulator/calls`, { method: 'DELETE' });
    const answers = await Promise.all(
      Array.from({ length: calls }, async (_, at) => {
        const response = await post(at, 'acme/requests');
        return { status: response.status, ...((await response.json()) as { error?: string }) };
      }),
    );
    const countOf = (status: number) => answers.filter((answer) => answer.status === status).length;
    const served = countOf(200);
    expect(served).toBeLessThanOrEqual(10);
    // Each call that came too late may have cost one slot.
    expect(served + countOf(tooLate)).toBeGreaterThanOrEqual(10);
    expect(served + countOf(tooLate) + countOf(429)).toBe(calls);
    for (const { status, error } of answers) if (status === 429) expect(error).toBe('rate_limited');
    // Who was served reached the provider, and no other did.
    expect(await received()).toHaveLength(served);
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
