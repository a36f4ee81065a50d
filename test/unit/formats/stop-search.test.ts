import fc from 'fast-check';
import { expect, it, jest } from '#jest';
import { createStopSearch, searchStart } from '../../../shared/routing/formats/hub/stop-search.ts';
import { watchStops } from '../../../shared/routing/formats/hub/stops.ts';

function partsWith(pieces: readonly string[], stops: readonly string[]) {
  const watch = watchStops(stops);
  const inputs = [
    ...pieces.map((delta) => ({ type: 'text-delta', id: '0', delta }) as const),
    { type: 'text-end', id: '0' } as const,
  ];
  const parts = inputs.flatMap((part) => watch.next(part));
  const text = parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join('');
  const end = watch.end();
  return { text, stop: end?.type === 'finish' ? end.providerMetadata?.gw?.stopSequence : undefined };
}

/** Finds the stop sequence that ends first; the longest one, if several end there. */
function plainly(text: string, stops: readonly string[]) {
  for (let end = 1; end <= text.length; end += 1) {
    const ending = stops.filter((stop) => text.slice(0, end).endsWith(stop)).sort((a, b) => b.length - a.length)[0];
    if (ending !== undefined) return { text: text.slice(0, end - ending.length), stop: ending };
  }
  return { text, stop: undefined };
}

const letters = fc.string({ unit: fc.constantFrom('a', 'b', '😀'), maxLength: 24 });
const someStops = fc.array(
  letters.filter((stop) => stop !== ''),
  { minLength: 1, maxLength: 6 },
);

it('an answer ends at the same stop whole, and however its stream is cut', () => {
  fc.assert(
    fc.property(letters, someStops, fc.array(fc.nat(50)), (text, stops, cuts) => {
      const places = [0, ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length];
      const pieces = places.slice(1).map((place, index) => text.slice(places[index], place));
      const expected = plainly(text, stops);
      expect([partsWith([text], stops), partsWith(pieces, stops)]).toEqual([expected, expected]);
    }),
  );
});

it('a text that nearly repeats 64 stops of 256 characters is searched in steps of its length and theirs', () => {
  const stops = Array.from({ length: 64 }, (_, index) => `${'a'.repeat(192 + index)}1`);
  const lookUps = jest.spyOn(Map.prototype, 'get');
  const search = createStopSearch(stops);
  const text = `${'a'.repeat(60_000)}b`.repeat(2);
  let state = searchStart;
  for (let at = 0; at < text.length; at += 1) state = search.next(state, text.charCodeAt(at));
  const lookUpsBefore = lookUps.mock.calls.length;
  lookUps.mockRestore();
  expect(search.found(state)).toBeUndefined();
  expect(lookUpsBefore).toBeLessThan(3 * (text.length + stops.join('').length));
});
