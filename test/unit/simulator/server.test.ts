import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '#jest';
import { startSimulator } from '../../../infra/local/simulator/index.ts';
import { ask, send, userMessage, withSimulator } from './simulated.ts';

const folder = new URL('../../../infra/local/simulator/', import.meta.url);
const messages = [userMessage('Hi')];

describe('the server', () => {
  it('serves several providers under their own paths and logs which one was called, with what', () =>
    withSimulator(async (simulator) => {
      const headers = {
        authorization: 'Bearer sk-1',
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      };
      const url = `${simulator.urlOf('acme')}/chat/completions`;
      expect(url).toBe(`http://127.0.0.1:${simulator.port}/acme/v1/chat/completions`);
      await send(url, { model: 'm/flaky:1', messages, seed: 7 }, { headers });
      const other = await send(`${simulator.urlOf('deep/borealis')}/chat/completions`, {
        model: 'm/flaky:1',
        messages,
      });
      expect(simulator.calls.map((call) => call.provider)).toEqual(['acme', 'borealis']);
      expect(other.status).toBe(500);
      expect(simulator.calls[0]).toMatchObject({
        path: '/acme/v1/chat/completions',
        headers,
        model: 'm/flaky:1',
        behaviour: 'flaky',
        body: { messages, seed: 7 },
        status: 500,
        ended: true,
        closedEarly: false,
      });
    }));

  it.each([
    ['POST', '/v1/completions', {}, 404],
    ['GET', '/v1/chat/completions', undefined, 404],
    ['POST', '/v1/chat/completions', 'not json', 400],
  ])('%s %s with %j is refused with %4$d, and logged', (method, path, body, status) =>
    withSimulator(async (simulator) => {
      const answer = await send(`http://127.0.0.1:${simulator.port}${path}`, body ?? '', { method });
      expect(answer.status).toBe(status);
      expect(JSON.parse(answer.text).error.type).toBe('invalid_request_error');
      expect(simulator.calls[0]?.behaviour).toBe(status === 404 ? 'not-found' : 'invalid-request');
    }),
  );

  it('answers what is too large with a 400, and goes on serving', () =>
    withSimulator(async (simulator) => {
      const url = `${simulator.url}/chat/completions`;
      const asking = (schema: object) => ({
        ...{ model: 'echo', messages },
        response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
      });
      const tooLarge = [
        'x'.repeat(64 * 1024 * 1024 + 1),
        asking({ type: 'array', minItems: 1e9 }),
        asking({ type: 'string', minLength: 1e12 }),
        asking({ type: 'array', minItems: 1_000, items: { type: 'array', minItems: 1_000, items: { $ref: '#' } } }),
      ];
      for (const body of tooLarge) {
        const answer = await send(url, body);
        expect([answer.status, JSON.parse(answer.text).error.type]).toEqual([400, 'invalid_request_error']);
      }
      const socket = connect(simulator.port, '127.0.0.1');
      socket.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(100_000)}\r\n\r\n`);
      const [head] = (await once(socket, 'data')) as [Buffer];
      expect(head.toString()).toMatch(/^HTTP\/1\.1 400 /);
      socket.destroy();
      expect((await send(url, { model: 'echo', messages })).status).toBe(200);
    }));

  it('stops with calls open: connections close, no call counts as left by its client, waiters are notified', async () => {
    const simulator = await startSimulator({ paceMs: 0 });
    const open = ask(simulator, 'silent').catch((reason) => reason);
    await simulator.until((calls) => calls.length === 1);
    const never = simulator.until((calls) => calls.length === 2);
    const rejected = expect(never).rejects.toThrow('stopped');
    await simulator.stop();
    await simulator.stop();
    await rejected;
    expect(await open).toMatchObject({ code: 'ECONNRESET' });
    expect(simulator.calls[0]).toMatchObject({ ended: true, closedEarly: false });
    await expect(ask(simulator, 'echo')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('rejects the start on a port in use', () =>
    withSimulator(async ({ port }) => {
      await expect(startSimulator({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    }));
});

describe('the process', () => {
  it('prints its base URL, shows and empties its log over HTTP, and ends on SIGTERM', async () => {
    const child = spawn(process.execPath, [fileURLToPath(new URL('main.ts', folder)), '--port', '0', '--pace-ms', '0']);
    try {
      const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
      const [, origin] = /^simulator (http:\/\/127\.0\.0\.1:\d+)\/v1$/.exec(line) ?? [];
      await send(`${origin}/acme/v1/chat/completions`, { model: 'error-500', messages });
      const calls = async (method: string) =>
        JSON.parse((await send(`${origin}/simulator/calls`, '', { method })).text);
      expect(await calls('GET')).toMatchObject([
        { provider: 'acme', behaviour: 'error-500', status: 500, ended: true },
      ]);
      expect(await calls('DELETE')).toEqual([]);
      expect(await calls('GET')).toEqual([]);
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('says in one line that a port is taken, and exits with 1', () =>
    withSimulator(async ({ port }) => {
      const child = spawn(process.execPath, [fileURLToPath(new URL('main.ts', folder)), '--port', String(port)]);
      const [text] = await once(child.stderr, 'data');
      expect(`${text}`).toMatch(/^simulator: .*EADDRINUSE.*\n$/);
      expect(await once(child, 'exit')).toEqual([1, null]);
    }));
});
