// The process of a task, from the bundle of its image, under the environment that the template gives it, on an embedded store.
// There is no container around it.
import { execFileSync } from 'node:child_process';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { startTask, type Task, taskContainerOf } from '../../infra/bench/test-bed/task-process.ts';
import { bundleFunction } from '../../infra/build/bundle.ts';
import { projectRoot } from '../../infra/verify/verify-step.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { readStream } from '../support/read-stream.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { synthesizeStage } from './synthesized-stage.ts';

const { api } = synthesizeStage('prod', { compute: 'container', console: true });
const container = taskContainerOf(api.toJSON());

const residentMib = ({ pid }: Task): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1_024;

describe('the process of a task', () => {
  let harness: Harness;
  let folder: string;
  beforeAll(async () => {
    const upstreams = ['slow:500', 'slow-chunks:30', 'echo'];
    harness = await startHarness({
      models: Object.fromEntries(
        upstreams.map((upstream) => [`acme/${upstream.split(':')[0]}`, [{ provider: 'acme', upstream }]]),
      ),
      key: { concurrency: 100, rpm: 1_000, spend_limit_usd: '1000.00' },
    });
    folder = dirname((await bundleFunction(projectRoot, temporaryFolder(), 'container')).file);
  });
  afterAll(() => harness.stop());
  const start = (storeUrl = harness.testStore.endpoint) =>
    startTask({ container, folder, storeUrl, stage: harness.testStore.stage });

  it('serves every route to who comes through the edge, is healthy for all, and ends with SIGTERM, its lines written', async () => {
    const task = await start();
    const statusOf = async (path: string, headers = {}) => (await fetch(task.origin + path, { headers })).status;
    expect(await statusOf('/health')).toBe(200);
    expect(await statusOf('/v1/models')).toBe(404);
    expect(await statusOf('/v1/models', task.headers)).toBe(401);
    expect(await statusOf('/v1/manage/session', task.headers)).toBe(401);
    expect(await statusOf('/console', task.headers)).toBe(200);
    const described = await fetch(`${task.origin}/openapi.json`, { headers: task.headers });
    expect(await described.json()).toMatchObject({ openapi: '3.1.0' });
    expect(await task.stop()).toBe(0);
    expect(task.lines.map(({ event }) => event)).toContain('stopping');
    expect(task.lines.filter(({ event }) => event === 'request').length).toBeGreaterThan(3);
  });

  it('that is told to stop with a hundred calls in flight ends all of them, its books are exact, and the next one refuses none', async () => {
    const call = (task: Task, model: string, stream = false) =>
      fetch(`${task.url}/chat/completions`, {
        method: 'POST',
        headers: { ...task.headers, authorization: `Bearer ${harness.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(hello(`acme/${model}`, { stream })),
      });
    const calls = (task: Task, model: string, stream = false) =>
      Array.from({ length: 50 }, () => call(task, model, stream));
    const task = await start();
    const [answers, streams] = [calls(task, 'slow'), calls(task, 'slow-chunks', true)];
    await harness.simulator.until((seen) => seen.length === 100);
    const stopped = task.stop();
    for (const answer of await Promise.all(answers)) {
      expect([answer.status, await answer.json()]).toMatchObject([200, { choices: [{ finish_reason: 'stop' }] }]);
    }
    for (const stream of await Promise.all(streams)) expect((await readStream(stream)).text).not.toContain('"error"');
    expect(await stopped).toBe(0);
    expect(await expectBalancedBooks(harness)).toBeGreaterThan(0n);
    expect(await harness.records()).toHaveLength(100);
    const next = await start();
    const following = await Promise.all([...calls(next, 'echo'), ...calls(next, 'echo')]);
    expect(following.map(({ status }) => status)).toEqual(new Array(100).fill(200));
    await Promise.all(following.map((response) => response.text()));
    expect(await next.stop()).toBe(0);
    await expectBalancedBooks(harness);
  });

  it('is healthy without a store', async () => {
    const task = await start('http://127.0.0.1:1');
    expect((await fetch(`${task.origin}/health`)).status).toBe(200);
    expect(await task.stop()).toBe(0);
  });

  it.each([
    // Whatever is not read, and by how many.
    { connections: 24, path: '/v1/models', sentBytes: 4 * 1_024 * 1_024 },
    { connections: 300, path: '/openapi.json', sentBytes: 64 * 1_024 },
  ])(
    'grows by less than 96 MB where $connections connections send $sentBytes bytes of GET $path each and read no answer, is back when they are closed, and serves others meanwhile',
    async ({ connections, path, sentBytes }) => {
      const task = await start();
      const isHealthy = async () => (await fetch(`${task.origin}/health`)).status === 200;
      for (let asked = 0; asked < 20; asked += 1) expect(await isHealthy()).toBe(true);
      const before = residentMib(task);
      const headers = Object.entries(task.headers).map(([name, value]) => `${name}: ${value}\r\n`);
      const request = `GET ${path} HTTP/1.1\r\nHost: gw\r\n${headers.join('')}\r\n`;
      const requests = request.repeat(Math.ceil(sentBytes / request.length));
      const sockets = Array.from({ length: connections }, () => {
        const socket = connect(Number(new URL(task.origin).port), '127.0.0.1').on('error', () => {});
        socket.pause().write(requests);
        return socket;
      });
      // Others are served meanwhile, and no later than all that it takes has been taken.
      const grown: number[] = [];
      for (let asked = 0; asked < 200; asked += 1) {
        expect(await isHealthy()).toBe(true);
        if (asked % 20 === 19) grown.push(residentMib(task) - before);
      }
      const honest = await fetch(`${task.url}/chat/completions`, {
        method: 'POST',
        headers: { ...task.headers, authorization: `Bearer ${harness.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(hello('acme/echo')),
      });
      expect([honest.status, await honest.json()]).toMatchObject([200, { choices: [{ finish_reason: 'stop' }] }]);
      const closed = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
      for (const socket of sockets) socket.destroy();
      await Promise.all(closed);
      for (let asked = 0; asked < 20; asked += 1) expect(await isHealthy()).toBe(true);
      grown.push(residentMib(task) - before);
      expect(Math.max(...grown)).toBeLessThan(96);
      expect(await task.stop()).toBe(0);
    },
  );
});
