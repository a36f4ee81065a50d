import { describe, expect, it } from '#jest';
import { readStream, StreamBroken } from '../../../shared/routing/providers/index.ts';

const chunk = (delta: object, finish_reason: string | null = null, index = 0) =>
  JSON.stringify({ choices: [{ index, delta, finish_reason }] });
const role = chunk({ role: 'assistant', content: '' });
const word = chunk({ content: 'Hi' });
const stop = chunk({}, 'stop');
const events = (...texts: string[]) => texts.map((text) => `data: ${text}\n\n`).join('');

async function read(...pieces: string[]): Promise<{ texts: string[]; broken?: StreamBroken['failure'] }> {
  async function* body(): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) yield Buffer.from(piece);
  }
  const texts: string[] = [];
  try {
    for await (const batch of readStream(body())) texts.push(...batch.map(({ text }) => text));
    return { texts };
  } catch (error) {
    if (!(error instanceof StreamBroken)) throw error;
    return { texts, broken: error.failure };
  }
}

describe('reading a provider’s stream', () => {
  it('ends well with an end marker, or with every choice finished', async () => {
    expect(await read(events(role, word, stop, '[DONE]'))).toEqual({ texts: [role, word, stop] });
    expect(await read(events(role, word, stop))).toEqual({ texts: [role, word, stop] });
    expect(await read(events(role, word, '[DONE]'))).toEqual({ texts: [role, word] });
  });

  it('drops what follows the end marker, errors included', async () => {
    expect(await read(events(word, '[DONE]', '{"error":{}}', word))).toEqual({ texts: [word] });
    expect(await read(events(word, '[DONE]'), 'garbage')).toEqual({ texts: [word] });
  });

  it('gives an empty batch for a comment or an event without text: a sign of life, no output', async () => {
    async function* body(): AsyncGenerator<Uint8Array> {
      for (const piece of [events(word), ': still', ' here\n', ':\n\n', 'data:\n\n', events('[DONE]')])
        yield Buffer.from(piece);
    }
    const lengths: number[] = [];
    for await (const batch of readStream(body())) lengths.push(batch.length);
    expect(lengths).toEqual([1, 0, 0, 0]);
  });

  it('takes an end marker with a blank behind it, and lets empty events pass', async () => {
    expect(await read('data:\n\n', events(word, ' ', '[DONE] '))).toEqual({ texts: [word] });
  });

  it('ends well once every choice has finished, however the connection then ends', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(events(role, word, stop));
      throw new Error('the connection was reset');
    }
    const texts: string[] = [];
    for await (const batch of readStream(broken())) texts.push(...batch.map(({ text }) => text));
    expect(texts).toEqual([role, word, stop]);
    for (const rest of ['data: {"id":"half a', events('{"error":{"message":"x"}}'), events('not JSON')]) {
      expect(await read(events(role, word, stop), rest)).toEqual({ texts: [role, word, stop] });
    }
  });

  it('waits for as many choices as were asked for', async () => {
    async function* body(...texts: string[]): AsyncGenerator<Uint8Array> {
      yield Buffer.from(events(...texts));
    }
    const readTwo = async (...texts: string[]) => {
      for await (const _batch of readStream(body(...texts), { choices: 2 }));
    };
    await expect(readTwo(word, stop)).rejects.toThrow(StreamBroken);
    await readTwo(word, stop, chunk({ content: 'Hi' }, 'stop', 1));
    await readTwo(word, stop, '[DONE]');
  });

  it.each([
    ['nothing at all', []],
    ['only comments', [': ping\n\n: ping\n\n']],
    ['a role and no more', [events(role)]],
    ['half an answer', [events(role, word)]],
    ['half a chunk', [events(role, word), 'data: {"choices":[{"ind']],
    ['one of two choices finished', [events(word, chunk({ content: 'Hi' }, null, 1), stop)]],
  ])('is never a success where the stream just stops: %s', async (_name, pieces) => {
    expect((await read(...(pieces as string[]))).broken).toMatchObject({ kind: 'failed' });
  });

  it('hands out what came before a fault, in the same piece or an earlier one', async () => {
    expect(await read(events(role, word, '{"error":{"message":"x"}}', word))).toMatchObject({
      texts: [role, word],
      broken: { kind: 'failed', cause: 'error_object' },
    });
    expect(await read(events(role, word), events('not JSON'))).toMatchObject({
      texts: [role, word],
      broken: { cause: 'unreadable_event' },
    });
  });

  it('says what kind of fault it was, never in the provider’s words', async () => {
    const error = (code: string | number) => JSON.stringify({ error: { code, message: 'secret words' } });
    const kinds = await Promise.all(
      ['rate_limit_exceeded', 429, 'context_length_exceeded', 400, 'server_error', 503].map(async (code) => {
        const { broken } = await read(events(word, error(code)));
        expect(JSON.stringify(broken)).not.toContain('secret');
        return broken?.kind;
      }),
    );
    expect(kinds).toEqual(['rate_limited', 'rate_limited', 'invalid', 'invalid', 'failed', 'failed']);
  });
});
