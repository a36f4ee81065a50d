// Every bound that a hostile schema or answer meets, with why it is this one.

/** Bound of the schema as compact JSON. */
export const schemaMaxBytes = 64 * 1024;
/** Objects and arrays inside each other, the schema itself being the first. */
export const schemaMaxDepth = 32;
/** Compiling one regular expression cannot be interrupted. Common ones stay below 1,000 characters. */
export const patternMaxCharacters = 2_048;

/** Twice the text of 128,000 tokens, the longest output of today's models. */
export const answerMaxCharacters = 1024 * 1024;
/** Length that is parsed on the event loop: at worst, with ever new names, for some 15 ms. */
export const eventLoopAnswerMaxCharacters = 256 * 1024;
/** Deeper than answers in practice, and in reach of the stack for a schema that refers to itself. */
export const answerMaxDepth = 256;

/**
 * Time of all schema work of one call on the event loop: an ordinary schema and its answer take two or three. The rest
 * of 50 ms is for uninterruptible work, which is the patterns below.
 */
export const eventLoopMaxMs = 30;
/** The same while another job of the key is in a worker: enough for ordinary work. */
export const busyEventLoopMaxMs = 5;
/** One schema, or one check of an answer, in a worker: an answer of the largest size takes some 300 ms there. */
export const workerJobMaxMs = 500;
/** Time of all schema work of one call in workers. */
export const workerCallMaxMs = 2_000;
/** Beside the event loop, on machines of one or two processors. */
export const workersMax = 2;
/** Jobs of one key that wait for a worker. One of them runs at a time, so that more would outlast the budget of their calls. */
export const waitingJobsPerKeyMax = 100;

/**
 * Patterns of a schema together that may be compiled on the event loop, by weight: a character weighs one, a Unicode
 * property class a hundred, for V8 takes a millisecond for each of them.
 */
export const eventLoopPatternWeightMax = 600;
export const propertyClassWeight = 100;
