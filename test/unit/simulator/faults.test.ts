import { describe, expect, it } from '#jest';
import { schemaInstance } from '../../../infra/local/simulator/schema-instance.ts';
import { watchedClock } from '../../support/watched-clock.ts';
import { ask, chunksOf, contentOf, streamed, withSimulator } from './simulated.ts';

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

  it('recovers: once refused, or after N failures, for each provider and name alone', () =>
    withSimulator(async (simulator) => {
      await expect(ask(simulator, 'refuse-once')).rejects.toThrow();
      expect((await ask(simulator, 'refuse-once')).status).toBe(200);
      const statuses = [];
      for (let call = 0; call < 4; call += 1) statuses.push((await ask(simulator, 'flaky:2')).status);
      expect(statuses).toEqual([500, 500, 200, 200]);
      expect((await ask(simulator, 'flaky:1:tag')).status).toBe(500);
    }));
});

describe('a scripted fault', () => {
  it('is reported if it changed no answer: of a format, its JSON or its streams, or if the request was refused', () =>
    withSimulator(async (simulator) => {
      for (const model of ['no-done', 'echo', 'cut', 'flaky:1', 'flaky:1']) await ask(simulator, model);
      for (const model of ['no-done', 'cut-clean:1']) await ask(simulator, model, streamed);
      await expect(ask(simulator, 'reset')).rejects.toThrow();
      await ask(simulator, 'error-400', { messages: 'none' });
      simulator.clear();
      expect(simulator.unsentFaults()).toEqual([
        'no-done (chat-completions, JSON)',
        'error-400 (chat-completions, the request was refused)',
      ]);
      await ask(simulator, 'error-400');
      expect(simulator.unsentFaults()).toHaveLength(2);
    }));
});

describe('pauses', () => {
  it('wait before the first byte, and between the chunks of a stream, not before the first', async () => {
    const clock = watchedClock();
    await withSimulator(
      async (simulator) => {
        const answer = ask(simulator, 'slow:2000');
        await clock.waitsFor((delayMs) => delayMs === 2_000);
        expect([simulator.calls.length, simulator.calls[0]?.status]).toEqual([1, null]);
        clock.advance(2_000);
        expect((await answer).status).toBe(200);
        const stream = ask(simulator, 'slow-chunks:700', { max_tokens: 2, ...streamed });
        for (let gap = 1; gap <= 5; gap += 1) {
          await clock.waitsFor((delayMs) => delayMs === 700, gap);
          clock.advance(700);
        }
        expect(chunksOf((await stream).text)).toHaveLength(5);
        await expect(Promise.race([clock.waitsFor((delayMs) => delayMs === 700, 6), 'none'])).resolves.toBe('none');
      },
      { clock },
    );
  });

  it.each([
    ['stall:1', 'Hello!', 2],
    ['stall-after-role', '', 1],
    ['trickle-comments:1', '', 3],
  ])('%s says "%s" and then nothing, no finish reason and no end mark', (model, said, events) =>
    withSimulator(async (simulator) => {
      const client = new AbortController();
      let text = '';
      const hasEvents = Promise.withResolvers<void>();
      const onPiece = (piece: string) => {
        text += piece;
        if (text.split('\n\n').length > events) hasEvents.resolve();
      };
      const answer = ask(simulator, model, streamed, { signal: client.signal, onPiece });
      await hasEvents.promise;
      // A whole stream of another call passes meanwhile.
      await ask(simulator, 'echo', streamed);
      client.abort();
      await answer;
      expect([contentOf(text), text.includes(': keep-alive')]).toEqual([said, events === 3]);
      expect(text).not.toMatch(events === 3 ? /data:/ : /DONE|"stop"/);
    }),
  );

  it('stalls a JSON answer in the middle of its declared length', () =>
    withSimulator(async (simulator) => {
      const client = new AbortController();
      const answer = await ask(simulator, 'stall', {}, { signal: client.signal, onPiece: () => client.abort() });
      expect(answer.isBroken).toBe(true);
      expect(answer.text.length * 2).toBeLessThanOrEqual(Number(answer.headers['content-length']));
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
});
