import { Agent } from 'node:http';
import { describe, expect, it } from '#jest';
import {
  ask,
  chunksOf,
  contentOf,
  dataOf,
  finishReasonsOf,
  manualClock,
  streamed,
  withSimulator,
} from './simulated.ts';

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

describe('streams that fail after the 200', () => {
  it.each([
    ['error-after-role', '', 'server_error'],
    ['error-after-chunks:2', 'Hello! You', 'server_error'],
    ['error-after-chunks:1:rate_limit_exceeded', 'Hello!', 'rate_limit_exceeded'],
  ])('%s says "%s", then the error %s, then only the end mark', (model, said, code) =>
    withSimulator(async (simulator) => {
      const { text, status } = await ask(simulator, model, streamed);
      expect(status).toBe(200);
      const events = dataOf(text);
      expect(JSON.parse(events.at(-2) ?? '').error.code).toBe(code);
      expect(events.at(-1)).toBe('[DONE]');
      expect(contentOf(text)).toBe(said);
      expect(finishReasonsOf(text)).toEqual([]);
    }),
  );

  it('cuts the connection after some content; the client sees a broken body', () =>
    withSimulator(async (simulator) => {
      const { text, isBroken } = await ask(simulator, 'cut:2', streamed);
      expect([isBroken, contentOf(text)]).toEqual([true, 'Hello! You']);
      expect(text).not.toContain('[DONE]');
      expect(simulator.calls[0]?.closedEarly).toBe(false);
    }));

  it.each([
    ['cut-clean', { finish: 0, ends: 0 }],
    ['no-done', { finish: 1, ends: 0 }],
    ['done-without-finish', { finish: 0, ends: 1 }],
    ['role-only', { finish: 0, ends: 1 }],
    ['empty-stream', { finish: 0, ends: 1 }],
  ])('%s ends cleanly with %j', (model, expected) =>
    withSimulator(async (simulator) => {
      const { text, isBroken } = await ask(simulator, model, streamed);
      const ends = dataOf(text).filter((data) => data === '[DONE]').length;
      expect({ isBroken, finish: finishReasonsOf(text).length, ends }).toEqual({ isBroken: false, ...expected });
      if (model === 'role-only') expect(contentOf(text)).toBe('');
      if (model === 'empty-stream') expect(text).toBe('data: [DONE]\n\n');
    }),
  );

  it('puts a line that is not JSON into the middle, or at the position asked for', () =>
    withSimulator(async (simulator) => {
      const isJson = (data: string) => {
        try {
          return JSON.parse(data) !== null;
        } catch {
          return data === '[DONE]';
        }
      };
      const events = dataOf((await ask(simulator, 'garbage', streamed)).text);
      expect(events.filter((data) => !isJson(data))).toHaveLength(1);
      expect(events.findIndex((data) => !isJson(data))).toBe(4);
      const early = dataOf((await ask(simulator, 'garbage:0', streamed)).text);
      expect(early.findIndex((data) => !isJson(data))).toBe(1);
    }));

  it('answers a stream with JSON, a JSON call with a stream, and leaves choices out', () =>
    withSimulator(async (simulator) => {
      const json = await ask(simulator, 'json-instead-of-stream', streamed);
      expect(json.headers['content-type']).toBe('application/json');
      expect(JSON.parse(json.text).object).toBe('chat.completion');
      const stream = await ask(simulator, 'stream-instead-of-json');
      expect(dataOf(stream.text).at(-1)).toBe('[DONE]');
      expect(JSON.parse((await ask(simulator, 'no-choices')).text)).not.toHaveProperty('choices');
      const chunks = chunksOf((await ask(simulator, 'no-choices', streamed)).text);
      expect(chunks.some((chunk) => 'choices' in chunk)).toBe(false);
    }));
});

describe('JSON answers with the same faults', () => {
  it('breaks off in the middle of the body, or ends it there as if it were whole', () =>
    withSimulator(async (simulator) => {
      for (const [model, isBroken] of [
        ['cut', true],
        ['cut-clean', false],
      ] as const) {
        const answer = await ask(simulator, model);
        expect([answer.status, answer.isBroken]).toEqual([200, isBroken]);
        expect(answer.text).toMatch(/^\{"id"/);
        expect(() => JSON.parse(answer.text)).toThrow(SyntaxError);
      }
    }));

  it('is not JSON, is empty, is an error, or has no finish reason', () =>
    withSimulator(async (simulator) => {
      const garbage = await ask(simulator, 'garbage');
      expect(garbage.status).toBe(200);
      expect(() => JSON.parse(garbage.text)).toThrow(SyntaxError);
      expect((await ask(simulator, 'empty-stream')).text).toBe('');
      for (const model of ['error-after-role', 'error-after-chunks:3']) {
        expect(JSON.parse((await ask(simulator, model)).text).error.code).toBe('server_error');
      }
      const [choice] = JSON.parse((await ask(simulator, 'done-without-finish')).text).choices;
      expect([choice.finish_reason, choice.message.content.length > 0]).toEqual([null, true]);
      expect(JSON.parse((await ask(simulator, 'role-only')).text).choices[0].message.content).toBe('');
      expect(JSON.parse((await ask(simulator, 'no-done')).text).choices[0].finish_reason).toBe('stop');
    }));
});

describe('pauses', () => {
  it('waits before the first byte, and answers when the time has come', async () => {
    const clock = manualClock();
    await withSimulator(
      async (simulator) => {
        let isAnswered = false;
        const answer = ask(simulator, 'slow:2000').then((got) => {
          isAnswered = true;
          return got;
        });
        await simulator.until((calls) => calls.length === 1);
        expect([isAnswered, simulator.calls[0]?.status]).toEqual([false, null]);
        expect(await clock.fire()).toBe(2000);
        expect((await answer).status).toBe(200);
        expect(clock.armed()).toBe(0);
      },
      { clock },
    );
  });

  it('paces streams by its clock: between chunks, not before the first', async () => {
    const clock = manualClock();
    await withSimulator(
      async (simulator) => {
        const answer = ask(simulator, 'slow-chunks:700', { max_tokens: 2, ...streamed });
        const delays = [];
        for (let gap = 0; gap < 5; gap += 1) delays.push(await clock.fire());
        expect(delays).toEqual([700, 700, 700, 700, 700]);
        expect(chunksOf((await answer).text)).toHaveLength(5);
      },
      { clock },
    );
  });

  it.each(['silent', 'stall', 'stall-after-role', 'trickle-comments:1', 'endless:1'])(
    '%s goes on until the client leaves, which is noticed, and then leaves no timer behind',
    async (model) => {
      const clock = manualClock();
      await withSimulator(
        async (simulator) => {
          const client = new AbortController();
          const answer = ask(simulator, model, streamed, { signal: client.signal }).catch((reason) => reason);
          await simulator.until((calls) => calls.length === 1);
          expect(simulator.calls[0]).toMatchObject({ ended: false, closedEarly: false });
          client.abort();
          await simulator.until(([call]) => call?.ended === true);
          expect(simulator.calls[0]?.closedEarly).toBe(true);
          await answer;
          await simulator.stop();
          expect(clock.armed()).toBe(0);
        },
        { clock },
      );
    },
  );

  it.each([
    ['stall', 'Hello! You wrote'],
    ['stall:1', 'Hello!'],
    ['stall-after-role', ''],
  ])('%s says "%s" and then nothing, no finish reason and no end mark', (model, said) =>
    withSimulator(async (simulator) => {
      const client = new AbortController();
      const events = said === '' ? 1 : 1 + said.split(' ').length;
      let text = '';
      const hasEvents = Promise.withResolvers<void>();
      const onPiece = (piece: string) => {
        text += piece;
        if (text.split('\n\n').length > events) hasEvents.resolve();
      };
      const answer = ask(simulator, model, streamed, { signal: client.signal, onPiece });
      await hasEvents.promise;
      // A whole stream of another call passes in the meantime.
      await ask(simulator, 'echo', streamed);
      client.abort();
      await answer;
      expect(contentOf(text)).toBe(said);
      expect(text).not.toMatch(/DONE|"stop"/);
      await simulator.until(([call]) => call?.closedEarly === true);
    }),
  );

  it('stalls a JSON answer in the middle of its declared length', () =>
    withSimulator(async (simulator) => {
      const client = new AbortController();
      const answer = await ask(simulator, 'stall', {}, { signal: client.signal, onPiece: () => client.abort() });
      expect(answer.isBroken).toBe(true);
      expect(answer.text.length * 2).toBeLessThanOrEqual(Number(answer.headers['content-length']));
    }));

  it('trickles comments and nothing else', () =>
    withSimulator(async (simulator) => {
      const client = new AbortController();
      let text = '';
      const onPiece = (piece: string) => {
        text += piece;
        if (text.length > 60) client.abort();
      };
      await ask(simulator, 'trickle-comments:1', streamed, { signal: client.signal, onPiece });
      expect(text).toMatch(/^(: keep-alive\n\n)+/);
      expect(text).not.toContain('data:');
    }));
});
