import { describe, expect, it } from '#jest';
import { schemaInstance } from '../../../infra/local/simulator/schema-instance.ts';
import { watchedClock } from '../../support/watched-clock.ts';
import { ask, chunksOf, contentOf, streamed, withSimulator } from './simulated.ts';

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
  ])('%j is satisfied by %j', (schema, instance) => {
    expect(schemaInstance(schema)).toEqual(instance);
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
        pieces.reduce((sentAtMs, piece) => {
          ends.add(sentAtMs + piece.length);
          return sentAtMs + piece.length;
        }, 0);
        expect(ends.has(position)).toBe(true);
        expect(contentOf(text)).toBe(utf8);
      }
    }));
});
