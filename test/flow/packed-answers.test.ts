// A provider compresses answers although the gateway asked for plain ones: clients get the plain text or an error,
// never the compressed bytes.
import type { ServerResponse } from 'node:http';
import {
  brotliCompressSync,
  createBrotliCompress,
  createDeflate,
  createGzip,
  createZstdCompress,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { chunkText, completionOf, type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';

const pack: Readonly<Record<string, (text: string) => Buffer>> = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  GZIP: gzipSync,
  deflate: deflateSync,
  'deflate without a head': deflateRawSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
};
const names = Object.keys(pack);
const packed = (name: string, text: string): Buffer => pack[name]?.(text) ?? Buffer.from(text);
const encodingOf = (name: string): string => name.split(' ')[0] ?? name;

const completion = completionOf({ content: 'plain words' });
/** Compressors that emit their input when they are flushed. */
const flushing = [
  ['gzip', () => createGzip()],
  ['deflate', () => createDeflate()],
  ['br', () => createBrotliCompress()],
  ['zstd', () => createZstdCompress()],
] as const;
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const events = [
  chunkText({ role: 'assistant', content: 'plain ' }),
  chunkText({ content: 'words' }),
  chunkText({}, 'stop'),
  JSON.stringify({
    id: 'scripted',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'scripted',
    choices: [],
    usage,
  }),
];
const stream = [...events, '[DONE]'].map((text) => `data: ${text}\n\n`).join('');

interface Script {
  readonly status?: number;
  readonly type?: string;
  readonly encoding?: string;
  readonly bytes: Buffer;
  /** The number of bytes that go out at a time. */
  readonly step?: number;
}

describe('an answer of a provider', () => {
  let script: Script | ((outgoing: ServerResponse) => void);
  let provider: ScriptedProvider;
  let gateway: Harness;

  beforeAll(async () => {
    provider = await startScriptedProvider((outgoing) => void play(outgoing));
    gateway = await startHarness({
      models: {
        'acme/alone': [{ provider: 'acme', upstream: 'scripted' }],
        'acme/backed': [
          { provider: 'acme', upstream: 'scripted' },
          { provider: 'good', upstream: 'echo', more: { input_price_per_million: '9' } },
        ],
      },
      providers: { acme: { base_url: provider.url } },
    });
  });
  afterAll(async () => {
    await gateway.settled();
    await expectBalancedBooks(gateway);
    await gateway.stop();
    await provider.stop();
  });

  async function play(outgoing: ServerResponse): Promise<void> {
    if (typeof script === 'function') return script(outgoing);
    const { status = 200, type = 'application/json', encoding, bytes, step = bytes.length } = script;
    outgoing.writeHead(status, {
      'content-type': type,
      ...(encoding !== undefined && { 'content-encoding': encoding }),
    });
    for (let at = 0; at < bytes.length; at += step) {
      await new Promise<void>((resolve) => {
        outgoing.write(bytes.subarray(at, at + step), () => resolve());
      });
    }
    outgoing.end();
  }

  const post = (next: Script, model = 'acme/alone', more: object = {}) => {
    script = next;
    return gateway.post({ ...hello(model), ...more });
  };
  const lastOutcome = (): unknown => {
    const lines = gateway.logLines.map((line) => JSON.parse(line) as { event?: string; outcome?: string });
    return lines.findLast(({ event }) => event === 'attempt_failed')?.outcome;
  };

  it.each(names)('that is JSON in %s reaches the client as plain text, however it is cut', async (name) => {
    for (const step of [undefined, 7, 1]) {
      const response = await post({
        encoding: encodingOf(name),
        bytes: packed(name, completion),
        ...(step === undefined ? {} : { step }),
      });
      expect(response.status).toBe(200);
      expect(response.headers.get('content-encoding')).toBeNull();
      expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'plain words' } }] });
    }
  });

  it.each(names)('that is a stream in %s reaches the client event by event, however it is cut', async (name) => {
    for (const step of [undefined, 1]) {
      const response = await post(
        {
          type: 'text/event-stream',
          encoding: encodingOf(name),
          bytes: packed(name, stream),
          ...(step === undefined ? {} : { step }),
        },
        'acme/alone',
        { stream: true },
      );
      expect(response.status).toBe(200);
      const text = await response.text();
      for (const event of events.slice(0, 3)) expect(text).toContain(`data: ${event}\n\n`);
      expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    }
  });

  it.each(flushing)('that is a stream is read as it comes, not at its end: %s', async (encoding, open) => {
    const packer = open();
    const firstRead = Promise.withResolvers<void>();
    script = (outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': encoding });
      packer.pipe(outgoing);
      packer.write(`data: ${events[0]}\n\n`);
      packer.flush(async () => {
        await firstRead.promise;
        packer.end(stream.slice(stream.indexOf('\n\n') + 2));
      });
    };
    const response = await gateway.post({ ...hello('acme/alone'), stream: true });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('plain ')) text += (await reader?.read())?.value;
    expect(text).not.toContain('words');
    firstRead.resolve();
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) text += read.value;
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it.each(['gzip', 'zstd'])('that is said to be in %s and is plain text is served as it is', async (encoding) => {
    const response = await post({ encoding, bytes: Buffer.from(completion) });
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'plain words' } }] });
  });

  it('that begins with a byte-order mark is read after it', async () => {
    const response = await post({ bytes: Buffer.from(`\ufeff${completion}`) });
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'plain words' } }] });
  });

  it.each(names)('that is an error in %s is read: its reason, and its words in plain text', async (name) => {
    const error = { error: { message: 'the word temperature is too high', type: 'invalid_request_error' } };
    const bytes = packed(name, JSON.stringify(error));
    const response = await post({ status: 400, encoding: encodingOf(name), bytes });
    const { message } = await expectError(response, 400, 'invalid_request');
    expect(message).toContain('the word temperature is too high');
  });

  it.each(['lzma', 'gzip, br', 'aws-chunked'])(
    'in an encoding that is not known (%s) is a failure by name',
    async (encoding) => {
      const bytes = gzipSync(completion);
      await expectError(await post({ encoding, bytes }), 502, 'no_available_provider');
      expect(lastOutcome()).toBe('unknown_encoding');
      const streamResponse = await post({ encoding, bytes, type: 'text/event-stream' }, 'acme/alone', { stream: true });
      await expectError(streamResponse, 502, 'no_available_provider');
      expect(lastOutcome()).toBe('unknown_encoding');
      const backed = await post({ encoding, bytes }, 'acme/backed');
      expect(backed.headers.get('x-gw-provider')).toBe('good');
    },
  );

  it('that is an error in an encoding that is not known shows nothing of its bytes', async () => {
    const bytes = gzipSync(JSON.stringify({ error: { message: 'words' } }));
    const response = await post({ status: 400, encoding: 'lzma', bytes });
    const { message } = await expectError(response, 400, 'invalid_request');
    expect(message).not.toMatch(/words|[^\x20-\x7e]/);
  });

  it.each(names)('in %s that breaks off, or is garbled, is a failure and is never shown', async (name) => {
    const whole = packed(name, completion);
    const garbled = Buffer.concat([whole.subarray(0, whole.length >> 1), Buffer.alloc(64, 0xff)]);
    for (const bytes of [whole.subarray(0, whole.length - 9), garbled]) {
      await expectError(await post({ encoding: encodingOf(name), bytes }), 502, 'no_available_provider');
      expect(['broken_encoding', 'unreadable_answer']).toContain(lastOutcome());
    }
  });

  it.each(['gzip', 'br', 'zstd'])('in %s that unfolds beyond what an answer may hold is a failure', async (name) => {
    const bomb = packed(name, `{"choices": "${' '.repeat(20 * 1024 * 1024)}"}`);
    expect(bomb.length).toBeLessThan(100_000);
    await expectError(await post({ encoding: name, bytes: bomb }), 502, 'no_available_provider');
    const event = packed(name, `data: "${' '.repeat(20 * 1024 * 1024)}"`);
    const streamResponse = await post({ encoding: name, bytes: event, type: 'text/event-stream' }, 'acme/alone', {
      stream: true,
    });
    await expectError(streamResponse, 502, 'no_available_provider');
    expect(lastOutcome()).toBe('event_too_large');
  });
});
