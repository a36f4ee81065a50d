// Text of any characters, assigned or not. fast-check's own `binary` first creates a map of all 1.1 million, which
// takes a second.
import fc from 'fast-check';

/** Halves of surrogate pairs are not characters. */
const [firstSurrogate, surrogates, end] = [0xd800, 0x800, 0x110000];

const anyCharacter = fc
  .integer({ min: 0, max: end - surrogates - 1 })
  .map((at) => String.fromCodePoint(at < firstSurrogate ? at : at + surrogates));

export const anyText = (constraints: fc.StringSharedConstraints = {}) =>
  fc.string({ ...constraints, unit: anyCharacter });
