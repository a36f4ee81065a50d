export { createEveryNth } from './every-nth.ts';
export {
  canonicalJson,
  createKeyedHash,
  equalInConstantTime,
  isRawNumber,
  rawNumber,
  sha256Hex,
  sha256OfLong,
} from './sha256.ts';
export { type Randomness, systemRandomness, timeOfUuidv7, uuidv7 } from './uuid.ts';
