export { type Randomness, systemRandomness } from './randomness.ts';
export { isRawNumber, rawNumber } from './raw-json.ts';
export { canonicalJson, equalInConstantTime, sha256Hex } from './sha256.ts';
export { timeOfUuidv7, uuidv7 } from './uuid.ts';
