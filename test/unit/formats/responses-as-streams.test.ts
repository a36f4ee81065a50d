// What the hub writes for clients of Responses: a stream is put together by their SDK to what JSON says, whatever the pieces in
// which a model gave it.
import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { freeformReader } from '../../../shared/routing/formats/hub/sources/responses/freeform-input.ts';

/** Pieces of a text, as long as the cuts say. */
function pieces(whole: string, cuts: readonly number[]): string[] {
  const characters = [...whole];
  return [...cuts.map((cut) => characters.splice(0, cut).join('')), characters.join('')];
}

const escapeOf = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

describe('the input of a tool that takes free text', () => {
  it('is what the model wrote into the one text of the function, in whatever pieces it comes', () => {
    const character = fc.constantFrom('a', '"', '\\', '\n', '\u0000', 'é', '😀', '}');
    fc.assert(
      fc.property(fc.string({ unit: character }), fc.array(fc.nat(9)), fc.boolean(), (value, cuts, isAscii) => {
        const written = JSON.stringify({ input: value });
        const { add, end } = freeformReader();
        const given = pieces(isAscii ? written.replaceAll(/[^ -~]/g, escapeOf) : written, cuts).map(add);
        expect(given.join('') + end()).toBe(value);
        // No piece ends with half a character.
        expect(given.filter((piece) => /[\uD800-\uDBFF]$/.test(piece))).toEqual([]);
      }),
    );
  });

  it.each([
    ['the text itself, where the model wrote no JSON', '*** Begin Patch', '*** Begin Patch'],
    ['its member, behind another one', '{"note":1,"input":"x"}', 'x'],
    ['all of it, where it has no such member', '{"patch":"x"}', '{"patch":"x"}'],
    ['what there is of it, where it was cut', '{"input":"*** Beg', '*** Beg'],
  ])('is %s', (_what, written, expected) => {
    const { add, end } = freeformReader();
    expect(add(written) + end()).toBe(expected);
  });
});
