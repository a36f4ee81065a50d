import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { textPieces } from '../../../shared/protocol/http/delivery.ts';

describe('pieces of a text', () => {
  it('joined are the text, none is too long, and none cuts a character', () => {
    const text = fc.string({ unit: 'binary', maxLength: 60 });
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 9 }), (whole, size) => {
        const pieces = [...textPieces(whole, size)];
        expect(pieces.join('')).toBe(whole);
        for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(size);
        expect(Buffer.concat(pieces.map((piece) => Buffer.from(piece)))).toEqual(Buffer.from(whole));
      }),
    );
  });

  it('of an empty text are one empty piece', () => {
    expect([...textPieces('', 5)]).toEqual(['']);
  });
});
