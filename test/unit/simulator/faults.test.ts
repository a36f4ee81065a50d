import { Agent } from 'node:http';
import { describe, expect, it } from '#jest';
import { schemaInstance } from '../../../infra/local/simulator/index.ts';
import {
  ask,
  chunksOf,
  contentOf,
  dataOf,
  finishReasonsOf,
  manualClock,
  send,
  streamed,
  withSimulator,
} from './simulated.ts';

describe('error answers', () => {
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
  it('names the error that is asked for, behind what was said, and then only the end mark', () =>
    withSimulator(async (simulator) => {
      const { text } = await ask(simulator, 'error-after-chunks:1:rate_limit_exceeded', streamed);
      const events = dataOf(text);
      expect(JSON.parse(events.at(-2) ?? '').error.code).toBe('rate_limit_exceeded');
      expect([contentOf(text), events.at(-1)]).toEqual(['Hello!', '[DONE]']);
    }));

  it.each([
    ['no-done', { finish: 1, ends: 0 }],
    ['done-without-finish', { finish: 0, ends: 1 }],
    ['empty-stream', { finish: 0, ends: 1 }],
  ])('%s ends cleanly with %j', (model, expected) =>
    withSimulator(async (simulator) => {
      const { text, isBroken } = await ask(simulator, model, streamed);
      const ends = dataOf(text).filter((data) => data === '[DONE]').length;
      expect({ isBroken, finish: finishReasonsOf(text).length, ends }).toEqual({ isBroken: false, ...expected });
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
});

it('Responses fail after output with an error event and a failed response, and in JSON with a failed response', () =>
  withSimulator(async (simulator) => {
    const answer = (model: string, stream: boolean) =>
      send(`${simulator.url}/responses`, { model, stream, input: 'What is the capital of France?' });
    const { text } = await answer('error-after-chunks:2:rate_limit_exceeded', true);
    const events = text.split('\n\n').filter((event) => event !== '');
    const last = events.slice(-2).map((event) => JSON.parse(event.split('\ndata: ')[1] ?? ''));
    expect(last).toMatchObject([
      { type: 'error', code: 'rate_limit_exceeded', sequence_number: events.length - 2 },
      { type: 'response.failed', sequence_number: events.length - 1, response: { status: 'failed', output: [] } },
    ]);
    expect(events.filter((event) => event.startsWith('event: response.output_text.delta'))).toHaveLength(2);
    const whole = JSON.parse((await answer('error-after-role', false)).text);
    expect(whole).toMatchObject({ status: 'failed', error: { code: 'server_error' } });
  }));

describe('JSON answers with the same faults', () => {
  it('is an error, or has no finish reason', () =>
    withSimulator(async (simulator) => {
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

describe('instances of schemas', () => {
  it.each([
    [{ const: { a: [1] } }, { a: [1] }],
    [{ enum: ['x', 'y'] }, 'x'],
    [{ type: ['null', 'boolean'] }, true],
    [{ type: 'string', minLength: 6, maxLength: 6 }, 'text..'],
    [{ type: 'string', format: 'date' }, '2026-01-31'],
    [{ type: 'integer', minimum: 3.5 }, 4],
    [{ type: 'integer', exclusiveMinimum: 1 }, 2],
    [{ type: 'number', exclusiveMaximum: 1 }, 0.5],
    [{ type: 'number', maximum: -3, multipleOf: 2 }, -4],
    [{ type: 'array', minItems: 2, items: { type: 'boolean' } }, [true, true]],
    [{ anyOf: [{ type: 'null' }, { type: 'string' }] }, null],
    [{ allOf: [{ properties: { a: { const: 1 } } }, { required: ['b'] }] }, { a: 1, b: 'text' }],
    [{ $defs: { a: { type: 'boolean' } }, properties: { x: { $ref: '#/$defs/a' } } }, { x: true }],
    [{ type: 'null' }, null],
  ])('%j is satisfied by %j', (given, instance) => {
    expect(schemaInstance(given)).toEqual(instance);
  });

  it('ends for a schema that refers to itself', () => {
    const tree = {
      type: 'object',
      required: ['leaf'],
      properties: { leaf: { type: 'boolean' }, child: { $ref: '#' } },
    };
    expect(JSON.stringify(schemaInstance(tree)).length).toBeLessThan(1000);
    expect(schemaInstance({ $ref: '#' })).toBeDefined();
  });
});

const utf8 = 'Grüße aus Zürich, 你好 世界 🌍 👩‍🚀 — fertig.';

describe('framing', () => {
  it('cuts letters of several bytes: every write of split-utf8 is one byte', () =>
    withSimulator(async (simulator) => {
      const stream = await ask(simulator, 'split-utf8', streamed);
      expect(stream.pieces.every((piece) => piece.length === 1)).toBe(true);
      expect(contentOf(stream.text)).toBe(utf8);
      expect(JSON.parse((await ask(simulator, 'byte-split:5')).text).choices[0].message.content).toBe(utf8);
    }));

  it('cuts the body once, at exactly the byte asked for', () =>
    withSimulator(async (simulator) => {
      for (const position of [1, 5, 250, 251, 252]) {
        const { pieces, text } = await ask(simulator, `split-at:${position}`, streamed);
        const ends = new Set<number>();
        pieces.reduce((sent, piece) => {
          ends.add(sent + piece.length);
          return sent + piece.length;
        }, 0);
        expect(ends.has(position)).toBe(true);
        expect(contentOf(text)).toBe(utf8);
      }
    }));

  it('sends content of the size asked for, in many chunks or in one', () =>
    withSimulator(async (simulator) => {
      const many = (await ask(simulator, 'huge:100000', streamed)).text;
      expect(contentOf(many)).toHaveLength(100_000);
      const one = chunksOf((await ask(simulator, 'huge-event:100000', streamed)).text);
      expect(one.filter((chunk) => chunk.choices[0]?.delta.content?.length === 100_000)).toHaveLength(1);
      expect(JSON.parse((await ask(simulator, 'huge:100000')).text).choices[0].message.content).toHaveLength(100_000);
    }));
});
