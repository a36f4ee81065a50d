// What Gemini's package is given of an event that holds more parts than it can read in a few milliseconds.
import { describe, expect, it } from '#jest';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import { partsAtOnceMax } from '../../../shared/routing/formats/hub/targets/answer-pieces.ts';
import { geminiEvents } from '../../../shared/routing/formats/hub/targets/gemini-events.ts';

async function* bytesOf(...events: readonly unknown[]): AsyncGenerator<Uint8Array> {
  yield Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
}

async function piecesOf(...events: readonly unknown[]) {
  const pieces: string[] = [];
  let turns = 0;
  let isRead = false;
  const others = (async () => {
    for (; !isRead; turns += 1) await nextTurn();
  })();
  for await (const bytes of geminiEvents(bytesOf(...events), (text) => text)) {
    pieces.push(...Buffer.from(bytes).toString('utf8').split('\n\n').filter(Boolean));
  }
  isRead = true;
  await others;
  return { pieces: pieces.map((piece) => JSON.parse(piece.slice('data: '.length))), turns };
}

const partsOf = (count: number) =>
  Array.from({ length: count }, (_one, i) => ({
    functionCall: { name: 'read_the_file', args: { i, path: '/a/b/c' } },
  }));
const eventOf = (parts: unknown, more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', safetyRatings: [], ...more }],
  usageMetadata: { promptTokenCount: 1 },
  responseId: 'r',
});

describe('an event of many parts', () => {
  it('is given in pieces of a few hundred, each in a turn of its own, its end and its usage with the last', async () => {
    const parts = partsOf(10_000);
    const { pieces, turns } = await piecesOf(eventOf(parts));
    const [head, ...others] = pieces;
    expect(head).toEqual({ responseId: 'r' });
    const given = others.map(({ candidates: [{ content }] }) => content.parts);
    expect(given.flat()).toEqual(parts);
    expect(Math.max(...given.map((some) => some.length))).toBe(partsAtOnceMax);
    expect(turns).toBeGreaterThanOrEqual(pieces.length);
    expect(others.pop()).toEqual(eventOf(given.at(-1)));
    for (const piece of others) expect(Object.keys(piece.candidates[0])).toEqual(['content']);
  });

  it.each([
    ['as many parts as are read at once', eventOf(partsOf(partsAtOnceMax))],
    ['one long part', eventOf([{ text: 'x'.repeat(100_000) }])],
    ['no list of parts', eventOf('x'.repeat(100_000))],
    ['no candidate', { candidates: [], error: 'x'.repeat(100_000) }],
    ['more values than an answer may hold', eventOf(partsOf(20_001))],
  ])('stays as it is with %s', async (_what, event) => {
    expect((await piecesOf(event)).pieces).toEqual([event]);
  });
});
