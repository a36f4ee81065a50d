import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { brokenStreamEnd, doneLine } from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import { readEventTexts, toEventLine } from '../../../shared/protocol/wire/index.ts';

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
  for await (const batch of readEventTexts(inPieces(bytes, cuts), max)) texts.push(...batch);
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
    const line = fc.tuple(
      fc.constantFrom('data: ', 'data:', ': ', 'event: ', 'id:', ''),
      fc.string({ unit: 'binary', maxLength: 12 }),
    );
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
      { numRuns: 300 },
    );
  });

  it('is refused where more of one event would be kept than the limit, on one line or on many', async () => {
    const body = `data: ${'x'.repeat(2_000)}\n\n`;
    await expect(textsOf(body, [500, 900, 1_100, 1_900], 1_000)).rejects.toThrow(RangeError);
    const manyLines = `data: ${'x'.repeat(300)}\n`.repeat(10);
    await expect(textsOf(manyLines, [400, 800, 1_200, 1_600, 2_000], 1_000)).rejects.toThrow(RangeError);
  });

  it('may be far longer than its longest event', async () => {
    const body = `data: ${'x'.repeat(600)}\n\n`.repeat(20);
    expect(await textsOf(body, [100, 1_000, 5_000], 1_000)).toHaveLength(20);
  });
});

describe('an event line', () => {
  it('carries its text byte for byte', () => {
    const text = '{ "a" : 1.50, "b":"\\u00e9\u2028" }';
    expect(toEventLine(text)).toBe(`data: ${text}\n\n`);
  });

  it('stays one line where JSON came over several', () => {
    expect(toEventLine('{"a":\n1}')).toBe('data: {"a": 1}\n\n');
  });

  it('of a failure holds code and message, nested, as SDKs read it', () => {
    expect(brokenStreamEnd('rate_limited', false)).toMatch(
      /^data: \{"error":\{"code":"rate_limited","message":"The stream broke [^"]+"\}\}\n\n$/,
    );
    expect(doneLine).toBe('data: [DONE]\n\n');
  });
});
