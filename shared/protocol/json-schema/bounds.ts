// Every bound that a hostile schema or answer meets, with why it is this one.

/** Contract 3. Of the schema as compact JSON. */
export const schemaMaxBytes = 64 * 1024;
/** Contract 3. Objects and arrays inside each other, the schema itself being the first. */
export const schemaMaxDepth = 32;
/** Compiling a regular expression cannot be interrupted, and is fast up to here. Common ones stay below 1,000. */
export const patternMaxCharacters = 2_048;
/** A union of everything that fits into 64 KiB stays below it, a few references that double each other do not. */
export const evaluationsPerValueMax = 10_000;
/** Resolving the references of 64 KiB takes some 100 ms on a small function. */
export const referencesMaxMs = 500;
/** All patterns of a schema together. Each takes about a millisecond; the rest is for a machine that is busy. */
export const probingMaxMs = 500;

/** Twice the text of 128,000 tokens, the longest output of today's models. */
export const answerMaxCharacters = 1024 * 1024;
/** Deeper than any answer that somebody reads, and in reach of the stack for a schema that refers to itself. */
export const answerMaxDepth = 256;
/** An answer of the largest size takes some 300 ms on a small function, an ordinary one about one. */
export const answerCheckMaxMs = 500;
