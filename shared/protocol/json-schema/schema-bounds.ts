// Lists every bound for a hostile schema or answer, with the reason for its value.

/** Bound of the schema as compact JSON. */
export const schemaMaxBytes = 64 * 1024;
/** Maximum nesting of objects and arrays, the schema itself being the first level. */
export const schemaMaxDepth = 32;
/**
 * Bound of one regular expression, because compiling it cannot be interrupted. Common patterns have less than 1,000
 * characters.
 */
export const patternMaxCharacters = 2_048;

/** Bound of an answer, which is twice the text of 128,000 tokens, the longest output of today's models. */
export const answerMaxCharacters = 1024 * 1024;
/** Length of an answer that is parsed on the event loop. At worst, with ever new names, parsing takes some 15 ms. */
export const eventLoopAnswerMaxCharacters = 256 * 1024;
/**
 * Maximum nesting of an answer. It is more than in practice, and within the stack for a schema that refers to itself.
 */
export const answerMaxDepth = 256;

/**
 * Time of all schema work of one call on the event loop. An ordinary schema and its answer need two or three
 * milliseconds. The rest of 50 ms is for work that cannot be interrupted, which is the compilation of patterns.
 */
export const eventLoopMaxMs = 30;
/** Time on the event loop while another job of the key is in a worker, which is enough for ordinary work. */
export const busyEventLoopMaxMs = 5;
/** Time of one schema, or of one check of an answer, in a worker, where the largest answer takes some 300 ms. */
export const workerJobMaxMs = 500;
/** Time of all schema work of one call in workers. */
export const workerCallMaxMs = 2_000;
/** Maximum number of workers in addition to the event loop, on machines with one or two processors. */
export const workersMax = 2;
/**
 * Maximum number of jobs of one key that wait for a worker. One job runs at a time, so more would exceed the budgets of
 * their calls.
 */
export const waitingJobsPerKeyMax = 100;

/**
 * Bound of a schema's patterns that are compiled on the event loop, by weight. A character weighs one, and a Unicode
 * property class weighs a hundred, because V8 takes a millisecond for each class.
 */
export const eventLoopPatternWeightMax = 600;
export const propertyClassWeight = 100;
