import { describe, expect, it } from '#jest';
import { schemaInstance } from '../../../infra/local/simulator/index.ts';
import { ask, chunksOf, contentOf, streamed, withSimulator } from './simulated.ts';

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
