import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { countTokens, schemaInstance, tokensOf } from '../../../infra/local/simulator/index.ts';
import {
  ask,
  chunksOf,
  contentOf,
  dataOf,
  finishReasonsOf,
  streamed,
  usageOf,
  userMessage,
  withSimulator,
} from './simulated.ts';

const tool = (name: string, properties: object) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties, required: Object.keys(properties) } },
});
const tools = [
  tool('get_weather', { city: { type: 'string' }, days: { type: 'integer', minimum: 2 } }),
  tool('get_time', { zone: { enum: ['UTC', 'CET'] } }),
];

describe('the default answer', () => {
  it('streams role, the same words, finish reason, usage and the end mark, in this order', () =>
    withSimulator(async (simulator) => {
      const whole = JSON.parse((await ask(simulator, 'echo')).text);
      const { text, headers } = await ask(simulator, 'echo', streamed);
      expect(headers['content-type']).toMatch(/^text\/event-stream/);
      const chunks = chunksOf(text);
      expect(chunks[0].choices[0].delta).toEqual({ role: 'assistant', content: '', refusal: null });
      expect(contentOf(text)).toBe(whole.choices[0].message.content);
      expect(chunks.at(-2).choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop' });
      expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage });
      expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
      expect(dataOf(text).at(-1)).toBe('[DONE]');
      expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    }));

  it('gives n choices, and each its own finish reason in a stream', () =>
    withSimulator(async (simulator) => {
      const { choices, usage } = JSON.parse((await ask(simulator, 'echo', { n: 3 })).text);
      expect(choices.map((choice: { index: number }) => choice.index)).toEqual([0, 1, 2]);
      expect(usage.completion_tokens).toBe(3 * countTokens(choices[0].message.content));
      const { text } = await ask(simulator, 'two-choices', streamed);
      expect(finishReasonsOf(text)).toEqual(['stop', 'stop']);
      expect(contentOf(text, 1)).toBe(contentOf(text, 0));
    }));

  it('says how many images it saw', () =>
    withSimulator(async (simulator) => {
      const image = { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } };
      const messages = [userMessage([{ type: 'text', text: 'What is this?' }, image, image])];
      const { choices } = JSON.parse((await ask(simulator, 'echo', { messages })).text);
      expect(choices[0].message.content).toMatch(/^I see 2 images\..*What is this\?/);
    }));
});

describe('tools', () => {
  it('answers with text once the results are there, and where tools are forbidden or not asked for', () =>
    withSimulator(async (simulator) => {
      const called = { id: 'a', type: 'function', function: { name: 'get_weather', arguments: '{}' } };
      const results = [
        userMessage('?'),
        { role: 'assistant', tool_calls: [called] },
        { role: 'tool', tool_call_id: 'a', content: 'sunny' },
      ];
      for (const [model, members] of [
        ['tools', { tools, messages: results }],
        ['tools', { tools, tool_choice: 'none' }],
        ['echo', { tools }],
      ] as const) {
        const { choices } = JSON.parse((await ask(simulator, model, members)).text);
        expect(choices[0].finish_reason).toBe('stop');
        expect(choices[0].message.tool_calls).toBeUndefined();
      }
      const { text } = await ask(simulator, 'tools', { tools, messages: results });
      expect(text).toContain('“sunny”');
    }));
});

describe('the behaviour echo-request', () => {
  it('repeats the request it received, credential and big numbers as they were', () =>
    withSimulator(async (simulator) => {
      const sent = { headers: { authorization: 'Bearer sk-secret', 'x-extra': 'yes' } };
      const { text } = await ask(simulator, 'x/echo-request', { top_k: 4, max_tokens: 1 }, sent);
      const seen = JSON.parse(JSON.parse(text).choices[0].message.content);
      expect(seen.headers).toMatchObject({ authorization: 'Bearer sk-secret', 'x-extra': 'yes' });
      expect(seen.body).toMatchObject({ model: 'x/echo-request', top_k: 4 });
      const stream = await ask(simulator, 'echo-request', { ...streamed, top_k: 5 });
      expect(JSON.parse(contentOf(stream.text)).body.top_k).toBe(5);
    }));
});

const schema = {
  type: 'object',
  required: ['label', 'score'],
  properties: { label: { enum: ['bug', 'wish'] }, score: { type: 'integer', minimum: 3 } },
};
const jsonSchema = { response_format: { type: 'json_schema', json_schema: { name: 'label', schema } } };

describe('tokens', () => {
  it('are the text again when joined, and at most 24 characters of a word each', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(tokensOf(text).join('')).toBe(text);
        expect(tokensOf(text).every((token) => [...token.trim()].length <= 24)).toBe(true);
      }),
    );
    expect(countTokens('Hello, dear world')).toBe(3);
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

describe('answers in JSON', () => {
  it('breaks the promise where asked to: prose, a mismatch, fences, half of it', () =>
    withSimulator(async (simulator) => {
      const contentFor = async (model: string) => {
        const { choices } = JSON.parse((await ask(simulator, model, jsonSchema)).text);
        return { content: choices[0].message.content as string, finish: choices[0].finish_reason };
      };
      expect((await contentFor('invalid-json')).content).toMatch(/^Of course!/);
      expect(JSON.parse((await contentFor('invalid-json:mismatch')).content)).toEqual([['not what was asked for']]);
      expect((await contentFor('fenced-json')).content).toBe('```json\n{"label":"bug","score":3}\n```');
      const truncated = await contentFor('truncated-json');
      expect(truncated.finish).toBe('length');
      expect(() => JSON.parse(truncated.content)).toThrow(SyntaxError);
    }));

  it('is invalid once, then valid; each name with a tag and each provider counts alone', () =>
    withSimulator(async (simulator) => {
      const isValid = async (model: string) =>
        JSON.parse((await ask(simulator, model, jsonSchema)).text).choices[0].message.content.startsWith('{');
      expect([await isValid('invalid-json-once:a'), await isValid('invalid-json-once:a')]).toEqual([false, true]);
      expect(await isValid('invalid-json-once:b')).toBe(false);
      simulator.clear();
      expect(await isValid('invalid-json-once:a')).toBe(false);
    }));
});

describe('reports of usage', () => {
  it.each([
    ['cached:2', { prompt_tokens: 6, prompt_tokens_details: { cached_tokens: 2 } }],
    ['cached', { prompt_tokens: 6, prompt_tokens_details: { cached_tokens: 3 } }],
    ['zero-usage', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
    [
      'usage:1000:500:100:50',
      { prompt_tokens: 1000, completion_tokens: 500, prompt_tokens_details: { cached_tokens: 100 } },
    ],
    ['wrong-usage', { prompt_tokens: -1000, completion_tokens: -500 }],
    ['wrong-usage:strings', { prompt_tokens: '12', completion_tokens: 'many' }],
    ['wrong-usage:cached', { prompt_tokens: 10, prompt_tokens_details: { cached_tokens: 1_000_000 } }],
  ])('%s reports the same in JSON and in a stream', (model, expected) =>
    withSimulator(async (simulator) => {
      expect(JSON.parse((await ask(simulator, model)).text).usage).toMatchObject(expected);
      expect(usageOf((await ask(simulator, model, streamed)).text)).toMatchObject(expected);
    }),
  );

  it('reports nothing at all for no-usage, asked or not', () =>
    withSimulator(async (simulator) => {
      expect((await ask(simulator, 'no-usage')).text).not.toContain('usage":');
      const { text } = await ask(simulator, 'no-usage', streamed);
      expect(text).not.toContain('usage":');
      expect(finishReasonsOf(text)).toEqual(['stop']);
    }));

  it('leaves additive reasoning out of the completion tokens and in the total', () =>
    withSimulator(async (simulator) => {
      const { usage, choices } = JSON.parse((await ask(simulator, 'additive-reasoning')).text);
      const { reasoning_tokens: reasoning } = usage.completion_tokens_details;
      expect(reasoning).toBeGreaterThan(0);
      expect(usage.completion_tokens).toBe(countTokens(choices[0].message.content));
      expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens + reasoning);
    }));

  it('packs usage and finish reason on the last content chunk, and sends no chunk that is only usage', () =>
    withSimulator(async (simulator) => {
      const chunks = chunksOf((await ask(simulator, 'usage-on-content', streamed)).text);
      expect(chunks.at(-1).choices[0]).toMatchObject({ delta: { content: ' one.' }, finish_reason: 'stop' });
      expect(chunks.at(-1).usage.prompt_tokens).toBe(6);
      expect(chunks.filter((chunk) => chunk.usage !== undefined || chunk.choices.length === 0)).toHaveLength(1);
    }));
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
