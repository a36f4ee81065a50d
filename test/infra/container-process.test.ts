// The process of a task, from the bundle of its image, under the environment that the template gives it, on an embedded store.
// There is no container around it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { bundleFunction } from '../../infra/build/bundle.ts';
import { projectRoot } from '../../infra/verify/verify-step.ts';
import { sha256Hex } from '../../shared/foundation/ids/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { resourcesOf, synthesizeStage } from './synthesized-stage.ts';

const secret = 'origin-secret-of-this-test';
const { api } = synthesizeStage('prod', { compute: 'container', console: true });
interface Container {
  readonly Command: string[];
  readonly Environment: readonly { readonly Name: string; readonly Value: unknown }[];
}
const [task] = resourcesOf(api, 'AWS::ECS::TaskDefinition');
const [container] = (task?.Properties.ContainerDefinitions ?? []) as [Container];

describe('the process of a task', () => {
  let testStore: TestStore;
  let folder: string;
  // What AWS answers beside the store: nothing is there.
  const elsewhere = createServer((_request, response) => response.writeHead(400).end('{"__type":"AccessDenied"}'));
  beforeAll(async () => {
    testStore = await startTestStore();
    folder = dirname((await bundleFunction(projectRoot, temporaryFolder(), 'container')).file);
    await once(elsewhere.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(async () => {
    elsewhere.close();
    await testStore.stop();
  });

  async function start(dynamodb: string) {
    const url = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
    const fromTemplate = container.Environment.map(({ Name, Value }) => [
      Name,
      typeof Value === 'string' ? Value : 'x',
    ]);
    const child = spawn(process.execPath, container.Command, {
      cwd: folder,
      env: {
        ...Object.fromEntries(fromTemplate),
        // What the template takes from the account.
        GW_ORIGIN_SECRET_SHA256: sha256Hex(secret),
        GW_SPILL_BUCKET: 'gw-prod-spill',
        AWS_REGION: 'eu-west-1',
        // What this machine has in place of AWS and of an address of its own.
        ...{ GW_STAGE: testStore.stage, GW_PORT: '0', AWS_ENDPOINT_URL: url, AWS_ENDPOINT_URL_DYNAMODB: dynamodb },
        ...{ AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' },
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines: Record<string, unknown>[] = [];
    const listening = Promise.withResolvers<number>();
    let rest = '';
    child.stdout.on('data', (chunk: Buffer) => {
      const parts = (rest + chunk.toString()).split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts.map((part) => JSON.parse(part) as Record<string, unknown>));
      const port = lines.find(({ event }) => event === 'listening')?.port;
      if (port !== undefined) listening.resolve(Number(port));
    });
    child.once('exit', () => listening.reject(new Error(JSON.stringify(lines))));
    const ended = once(child, 'exit');
    return { url: `http://127.0.0.1:${await listening.promise}`, lines, child, ended };
  }

  it('serves every route to who comes through the edge, is healthy for all, and ends with SIGTERM, its lines written', async () => {
    const { url, lines, child, ended } = await start(testStore.endpoint);
    const statusOf = async (path: string, headers = {}) => (await fetch(url + path, { headers })).status;
    expect(await statusOf('/health')).toBe(200);
    expect(await statusOf('/v1/models')).toBe(404);
    const through = { 'x-gw-origin-secret': secret };
    expect(await statusOf('/v1/models', through)).toBe(401);
    expect(await statusOf('/v1/manage/session', through)).toBe(401);
    expect(await statusOf('/console', through)).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(lines.map(({ event }) => event)).toContain('stopping');
    expect(lines.filter(({ event }) => event === 'request').length).toBeGreaterThan(3);
  });

  it('is healthy without a store', async () => {
    const { url, child, ended } = await start('http://127.0.0.1:1');
    expect((await fetch(`${url}/health`)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
});
