import { Agent } from 'node:http';
import { describe, expect, it } from '#jest';
import { ask, dataOf, streamed, withSimulator } from './simulated.ts';

describe('error answers', () => {
  it.each([400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 529])(
    'error-%d has that status and an error object, for streams too',
    (status) =>
      withSimulator(async (simulator) => {
        for (const members of [{}, streamed]) {
          const answer = await ask(simulator, `acme/error-${status}`, members);
          expect(answer.status).toBe(status);
          expect(answer.headers['content-type']).toBe('application/json');
          const { error } = JSON.parse(answer.text);
          expect(Object.keys(error)).toEqual(['message', 'type', 'param', 'code']);
          expect(error.message).not.toBe('');
          expect(answer.headers['retry-after']).toBeUndefined();
        }
      }),
  );

  it('lets the model name choose the code and the wait', () =>
    withSimulator(async (simulator) => {
      const { error } = JSON.parse((await ask(simulator, 'error-400:context_length_exceeded')).text);
      expect(error.code).toBe('context_length_exceeded');
      expect(error.message).toMatch(/maximum context length/);
      expect(JSON.parse((await ask(simulator, 'error-400:my_own')).text).error.code).toBe('my_own');
      expect((await ask(simulator, 'error-429:7')).headers['retry-after']).toBe('7');
      const quota = await ask(simulator, 'error-429:insufficient_quota:30');
      expect([quota.headers['retry-after'], JSON.parse(quota.text).error.type]).toEqual(['30', 'insufficient_quota']);
      expect(JSON.parse((await ask(simulator, 'error-400:vllm')).text)).toMatchObject({ object: 'error', code: 400 });
    }));

  it('sends HTML, nothing, a redirect, or an error under status 200', () =>
    withSimulator(async (simulator) => {
      const html = await ask(simulator, 'error-html');
      expect([html.status, html.headers['content-type']]).toEqual([502, 'text/html']);
      const empty = await ask(simulator, 'error-empty');
      expect([empty.status, empty.text]).toEqual([500, '']);
      const redirect = await ask(simulator, 'redirect');
      expect([redirect.status, redirect.headers.location]).toEqual([307, '/redirected/v1/chat/completions']);
      const hidden = await ask(simulator, 'error-200:rate_limit_exceeded');
      expect([hidden.status, JSON.parse(hidden.text).error.code]).toEqual([200, 'rate_limit_exceeded']);
      const events = dataOf((await ask(simulator, 'error-200', streamed)).text);
      expect(JSON.parse(events[0] ?? '')).toHaveProperty('error.type', 'server_error');
      expect(events[1]).toBe('[DONE]');
    }));

  it('leaks the credential it received, with the status asked for', () =>
    withSimulator(async (simulator) => {
      const sent = { headers: { authorization: 'Bearer sk-canary' } };
      const leak = await ask(simulator, 'error-leak', {}, sent);
      expect([leak.status, leak.text.includes('sk-canary')]).toEqual([401, true]);
      expect((await ask(simulator, 'error-leak:400', {}, sent)).status).toBe(400);
    }));
});

describe('broken connections', () => {
  it('resets before the headers, and does not count that as a client that left', () =>
    withSimulator(async (simulator) => {
      await expect(ask(simulator, 'reset')).rejects.toMatchObject({ code: 'ECONNRESET' });
      await simulator.until(([call]) => call?.ended === true);
      expect(simulator.calls[0]).toMatchObject({ behaviour: 'reset', closedEarly: false, status: null });
    }));

  it('closes after the headers without a byte of a body', () =>
    withSimulator(async (simulator) => {
      const answer = await ask(simulator, 'reset-after-headers', streamed);
      expect(answer).toMatchObject({ status: 200, isBroken: true, text: '' });
      expect(simulator.calls[0]?.closedEarly).toBe(false);
    }));

  it('recovers: once refused, or after N failures, for each provider and name alone', () =>
    withSimulator(async (simulator) => {
      await expect(ask(simulator, 'refuse-once')).rejects.toThrow();
      expect((await ask(simulator, 'refuse-once')).status).toBe(200);
      const statuses = [];
      for (let call = 0; call < 4; call += 1) statuses.push((await ask(simulator, 'flaky:2')).status);
      expect(statuses).toEqual([500, 500, 200, 200]);
      expect((await ask(simulator, 'flaky:1:tag')).status).toBe(500);
    }));

  it('resets the second request on one connection, and serves new connections', () =>
    withSimulator(async (simulator) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      expect((await ask(simulator, 'stale-socket', {}, { agent })).status).toBe(200);
      await expect(ask(simulator, 'stale-socket', {}, { agent })).rejects.toMatchObject({ code: 'ECONNRESET' });
      expect((await ask(simulator, 'stale-socket', {}, { agent })).status).toBe(200);
      agent.destroy();
    }));
});
