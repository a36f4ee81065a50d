import fc from 'fast-check';
import { describe, expect, it, jest } from '#jest';
import { upstreamEventMaxBytes } from '../../../shared/foundation/constants/index.ts';
import { readStreamChunk } from '../../../shared/protocol/interfaces/chat-completions/provider-answer.ts';
import { readEvents, toEventLine } from '../../../shared/protocol/wire/index.ts';
import { anyText } from '../../support/any-text.ts';

const maxBytes = 1_000_000;

async function* inPieces(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const ends = [...new Set(cuts)].filter((cut) => cut > 0 && cut < bytes.length).sort((a, b) => a - b);
  let start = 0;
  for (const end of [...ends, bytes.length]) {
    yield bytes.subarray(start, end);
    start = end;
  }
}

async function textsOf(body: string | Uint8Array, cuts: readonly number[] = [], max = maxBytes): Promise<string[]> {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const texts: string[] = [];
  for await (const batch of readEvents(inPieces(bytes, cuts), max)) texts.push(...batch.map(({ text }) => text));
  return texts;
}

const content = 'Grüße 你好 🌍 👩‍🚀';
const bodies: Record<string, [body: string, texts: string[]]> = {
  'line feeds': [`data: {"a":"${content}"}\n\ndata: two\n\ndata: [DONE]\n\n`, [`{"a":"${content}"}`, 'two', '[DONE]']],
  'carriage returns and line feeds': [
    `data: {"a":"${content}"}\r\n\r\ndata:two\r\n\r\n`,
    [`{"a":"${content}"}`, 'two'],
  ],
  'carriage returns': [`data: ${content}\r\rdata: two\r\r`, [content, 'two']],
  'comments and other fields': [
    `: ping\n\nid: 1\nevent: x\nretry: 9\n: data: no\ndata: ${content}\n\n:\n\n`,
    [content],
  ],
  'data over several lines': [`data: {"a":\ndata: "${content}"\ndata:}\n\n`, [`{"a":\n"${content}"\n}`]],
  'a byte order mark': [`\uFEFFdata: ${content}\n\n`, [content]],
  'no blank line at the end': [`data: one\n\ndata: ${content}`, ['one', content]],
  'one line feed at the end': [`data: one\n\ndata: ${content}\n`, ['one', content]],
  'a carriage return at the end': [`data: ${content}\r`, [content]],
  'only one leading blank taken away': ['data:  x \n\n', [' x ']],
  'a colon in the data': ['data: a: b\n\ndata:c:d\n\n', ['a: b', 'c:d']],
};

describe('an event stream', () => {
  it.each(Object.entries(bodies))('is read the same wherever its bytes are cut: %s', async (_name, [body, texts]) => {
    const { length } = new TextEncoder().encode(body);
    expect(await textsOf(body)).toEqual(texts);
    for (let position = 1; position < length; position += 1) {
      expect([position, await textsOf(body, [position])]).toEqual([position, texts]);
    }
    expect(
      await textsOf(
        body,
        Array.from({ length }, (_, position) => position),
      ),
    ).toEqual(texts);
  });

  it('equals itself under any cutting of any bytes', async () => {
    const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
    const line = fc.tuple(fc.constantFrom('data: ', 'data:', ': ', 'event: ', 'id:', ''), anyText({ maxLength: 12 }));
    const body = fc
      .array(fc.tuple(line, fc.array(lineEnd, { minLength: 1, maxLength: 3 })), { maxLength: 12 })
      .map((lines) =>
        lines.map(([[field, text], ends]) => field + text.replace(/[\r\n]/g, '') + ends.join('')).join(''),
      );
    const cuts = fc.array(fc.nat(200), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(body, cuts, async (text, positions) => {
        expect(await textsOf(text, positions)).toEqual(await textsOf(text));
      }),
      { numRuns: 150 },
    );
  });

  it('is refused if more of one event would be kept than the limit, on one line or on many', async () => {
    const body = `data: ${'x'.repeat(2_000)}\n\n`;
    await expect(textsOf(body, [500, 900, 1_100, 1_900], 1_000)).rejects.toThrow(RangeError);
    const manyLines = `data: ${'x'.repeat(300)}\n`.repeat(10);
    await expect(textsOf(manyLines, [400, 800, 1_200, 1_600, 2_000], 1_000)).rejects.toThrow(RangeError);
  });

  it('of a provider may hold a large image', async () => {
    const text = `{"type":"response.image_generation_call.partial_image","partial_image_b64":"${'A'.repeat(15 * 1024 * 1024)}"}`;
    expect(
      (await textsOf(`data: ${text}\n\n`, [text.length], upstreamEventMaxBytes)).map(({ length }) => length),
    ).toEqual([text.length]);
  });

  it('may be far longer than its longest event', async () => {
    const body = `data: ${'x'.repeat(600)}\n\n`.repeat(20);
    expect(await textsOf(body, [100, 1_000, 5_000], 1_000)).toHaveLength(20);
  });
});

describe('an event line', () => {
  it('carries its text byte for byte, on one line', () => {
    expect(toEventLine('{ "a" :\n1.50, "b":"\\u00e9\u2028" }')).toBe('data: { "a" : 1.50, "b":"\\u00e9\u2028" }\n\n');
  });
});

const factsOf = (chunk: object) => readStreamChunk(JSON.stringify(chunk))?.details;
const withDelta = (delta: object, more: object = {}) => factsOf({ choices: [{ index: 0, delta, ...more }] });

describe('a chunk of a stream', () => {
  it.each([0.5, 1 / 3, -1, 128, 1e99, '0'])('is broken with a choice whose index is none: %j', (index) => {
    expect(factsOf({ choices: [{ index, delta: { content: 'x' } }] })).toBeUndefined();
  });

  it('is broken beyond 100,000 values, and is not parsed then', () => {
    const chunk = (values: number) => `{"choices":[],"x":[${new Array(values - 3).fill('{}')}]}`;
    expect(readStreamChunk(chunk(100_000))).toBeDefined();
    const parse = jest.spyOn(JSON, 'parse');
    expect(readStreamChunk(chunk(100_001))).toBeUndefined();
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });

  it.each([
    { content: 'x' },
    { content: ' ' },
    { role: 'assistant', content: 'x' },
    { refusal: 'no' },
    { reasoning: 'hm' },
    { reasoning_content: 'hm' },
    { reasoning_details: [{ type: 'reasoning.text', text: 'hm' }] },
    { thinking: 'hm' },
    { tool_calls: [{ index: 0, id: 'call_1', function: { name: 'f', arguments: '' } }] },
    { function_call: { name: 'f' } },
    { audio: { data: 'AAAA' } },
    { images: [{ image_url: { url: 'data:' } }] },
  ])('has output if a client can use it: %j', (delta) => {
    expect(withDelta(delta)?.hasOutput).toBe(true);
  });

  it.each([
    {},
    { role: 'assistant' },
    { role: 'assistant', content: '' },
    { role: 'assistant', content: null, refusal: null, tool_calls: [] },
    { content: '', reasoning_content: '', reasoning: null, reasoning_details: [] },
    // Some providers open every stream with these fields, before any output.
    { role: 'assistant', content: '', id: 'msg_1', type: 'message', name: 'assistant' },
    { role: 'assistant', content: '', provider_specific_fields: { service_tier: 'default' } },
  ])('has none before the model spoke: %j', (delta) => {
    expect(withDelta(delta)?.hasOutput).toBe(false);
  });

  it('has output if it ends a choice', () => {
    expect(withDelta({}, { finish_reason: 'stop' })?.hasOutput).toBe(true);
    expect(withDelta({}, { finish_reason: null })?.hasOutput).toBe(false);
    expect(withDelta({}, { finish_reason: '' })?.hasOutput).toBe(false);
  });

  it.each(['', '[DONE', 'null', '7', '"text"', '[]', '{', '{"a":}'])('is none if it is no JSON object: %s', (text) => {
    expect(readStreamChunk(text)).toBeUndefined();
  });

  it('counts the bytes of what was said, not of the form it is in', () => {
    expect(withDelta({ role: 'assistant', content: 'é' })?.outputBytes).toBe(2);
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'ab', arguments: '{}' } };
    expect(withDelta({ tool_calls: [call] })?.outputBytes).toBe(4);
    // The same reasoning in two fields counts once.
    const detail = { type: 'reasoning.text', text: 'Hm', signature: 'c2ln', format: 'anthropic-claude-v1', index: 0 };
    expect(withDelta({ reasoning: 'Hm', reasoning_details: [detail] })?.outputBytes).toBe(2);
    expect(withDelta({ reasoning_details: [detail] })?.outputBytes).toBe(2);
    expect(factsOf({ choices: [{ delta: { content: 'ab' } }, { delta: { content: 'c' } }] })?.outputBytes).toBe(3);
  });

  it('says the same of a chunk that is parsed as of one that is too long for it', () => {
    const names = [
      'content',
      'refusal',
      'reasoning',
      'reasoning_details',
      'tool_calls',
      'role',
      'id',
      'type',
      'x',
      '__proto__',
    ];
    const name = fc.constantFrom(...names, 'index', 'é"\\n');
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<unknown>('', null, 7, true, 'a', 'é"\\n', '\ud800', '😀'),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(name, tie('value'), { maxKeys: 4 }),
      ),
    }));
    const choice = fc.record(
      { index: fc.constantFrom(0, 1, null, -1, 'x'), finish_reason: fc.constantFrom('stop', '', null), delta: value },
      { requiredKeys: [] },
    );
    const usage = fc.constantFrom(null, 7, {}, { prompt_tokens: 1, completion_tokens: 2 });
    const chunk = fc.record(
      { id: value, choices: fc.oneof(fc.array(fc.oneof(choice, value), { maxLength: 3 }), value), usage, error: value },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(chunk, value), (json) => {
        const text = JSON.stringify(json);
        // Blanks at its end make the event too long.
        const [short, long] = [text, text + ' '.repeat(1_024)].map(readStreamChunk);
        expect(short?.details).toEqual(long?.details);
        const headOf = ({ id, created, model }: Record<string, unknown> = {}) => [id, created, model].map(String);
        if (typeof (json as { id?: unknown })?.id !== 'object') expect(headOf(short?.head)).toEqual(headOf(long?.head));
        expect(short?.json.text).toEqual(short === undefined ? undefined : text);
      }),
      { numRuns: 250 },
    );
  });

  it('of a few words is parsed once, whole, and not searched for what is read of it', () => {
    const text = JSON.stringify({ id: 'a', created: 1, model: 'm', choices: [{ index: 0, delta: { content: 'b' } }] });
    const parse = jest.spyOn(JSON, 'parse');
    expect(readStreamChunk(text)?.details.outputBytes).toBe(1);
    expect(parse.mock.calls).toEqual([[text]]);
    parse.mockRestore();
  });

  it('is read as deep as an answer may be nested, and is broken one level deeper', () => {
    const nested = (levels: number) => `{"choices":[],"x":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    expect(readStreamChunk(nested(511))).toBeDefined();
    expect(readStreamChunk(nested(512))).toBeUndefined();
  });

  it('never throws, whatever its fields are', () => {
    const strange = [
      { choices: 7 },
      { choices: [null, 7, 'x', []] },
      { choices: [{ delta: 7 }] },
      { choices: {}, usage: 7 },
    ];
    for (const chunk of strange) expect(factsOf(chunk)?.hasOutput).toBe(false);
  });
});

describe('a chunk whose choices cannot be', () => {
  it('is unreadable with more of them than a request can ask for', () => {
    expect(readStreamChunk(JSON.stringify({ choices: new Array(129).fill({ delta: {} }) }))).toBeUndefined();
    expect(readStreamChunk(JSON.stringify({ choices: new Array(128).fill({ delta: {} }) }))).toBeDefined();
  });
});
