// Lists the fixed limits of the service. Each number is a promise to clients, or its comment gives the reason for it.

/**
 * Bound of the body of a plain call. Lambda refuses bodies over 6 MB with an answer of its own, and base64 adds a third
 * to the gateway's 4 MiB.
 */
export const plainBodyMaxBytes = 4 * 1024 * 1024;
/**
 * Bound of bodies with files, in a process that outlives its calls, because OpenAI accepts transcription files of this
 * size.
 */
export const formBodyMaxBytes = 25 * 1024 * 1024;
/** Bound of the body of a function call. */
export const functionBodyMaxBytes = 256 * 1024;
/**
 * Bound of all headers of one request together. It is the default of Node's server, so that every entry point accepts
 * the same.
 */
export const headersMaxBytes = 16 * 1024;

/** Maximum number of JSON values in the body of a request, in a provider's answer, or in one event of a stream. */
export const jsonValuesMax = 100_000;

/** Least output bound. Providers of Responses refuse a lower bound, so a lower bound is raised to this number. */
export const responsesOutputMinTokens = 16;

/** Bound of `n`, and so of the choices in an answer. */
export const choicesMax = 128;

/** Number and length of stop sequences that the gateway applies itself, if the provider accepts fewer or none. */
export const ownStopsMax = 64;
export const ownStopMaxCharacters = 256;
/** Maximum number of stop sequences in OpenAI's chat completions. */
export const openAiStopsMax = 4;

/** Maximum concurrent function calls of a new workspace. */
export const functionCallsDefault = 20;

/** Intervals after which the spend that counts against a limit starts at zero again. Weeks begin on Monday. */
export const spendLimitResets = ['daily', 'weekly', 'monthly'] as const;
export type SpendLimitReset = (typeof spendLimitResets)[number];

/** Time that a candidate which sends nothing must leave to each candidate after it. */
export const reservePerCandidateMs = 10_000;
/** Default time limit for connecting to a provider. */
export const connectTimeoutDefaultMs = 3_000;
export const firstChunkTimeoutDefaultMs = 20_000;
export const idleTimeoutDefaultMs = 15_000;
/**
 * This time is below the 60 s for which providers and load balancers commonly keep an idle socket open, so that the
 * gateway closes first.
 */
export const keepAliveIdleMs = 50_000;
/** Sockets to one provider. A Lambda environment uses one; a local run or a container needs one per request. */
export const socketsPerProviderMax = 2_048;

/**
 * Maximum number of answers that one call may be charged for, because a structured output is requested again at most
 * twice.
 */
export const chargedAnswersMax = 3;

/**
 * Bound of one provider answer, or of one event of a stream. It is far above any model's output, and far below the
 * memory of a 512 MB function.
 */
export const upstreamBodyMaxBytes = 16 * 1024 * 1024;
/**
 * Bound of an answer that is mostly not parsed, such as embeddings (1,536 numbers for each input) or log probabilities.
 */
export const largeBodyMaxBytes = 64 * 1024 * 1024;
/** Bound of one event of a stream, which may contain a large image. */
export const upstreamEventMaxBytes = 16 * 1024 * 1024;
/**
 * Bound of the events that are delayed until the first real output. The first two events of a Responses stream may
 * repeat a request of 4 MiB each.
 */
export const heldBackMaxBytes = 8 * 1024 * 1024;
/**
 * Maximum time for which a stream is read after its client left, because the client pays for the tokens that were used.
 */
export const streamReadOnMaxMs = 10_000;
/**
 * Bound of a stream that is collected for the response cache or a schema check, and of a JSON answer for that cache. A
 * longer stream or answer is passed on and not stored.
 */
export const collectedStreamMaxBytes = 8 * 1024 * 1024;
/**
 * Bound of an answer that is stored for retries with its Idempotency-Key. A key with a longer answer is used up and has
 * no stored answer.
 */
export const storedAnswerMaxBytes = 32 * 1024 * 1024;
/**
 * Maximum nesting of a body that is scanned again after a client or the gateway wrote it, which is far more than a
 * client may send.
 */
export const bodyDepthMax = 1_024;
/** Part of a provider's error body that is read to classify it. */
export const upstreamErrorMaxBytes = 64 * 1024;

/**
 * Time limit of any store call. All store calls that must succeed before a provider is called have 2 seconds together;
 * then the call gets a 503.
 */
export const storeCallTimeoutMs = 800;
export const admissionTimeoutMs = 1_900;

/** Time for which an instance may use its copy of catalogue and workspace before it checks whether they changed. */
export const configFreshMs = 5_000;
/** Maximum number of workspaces, and of keys, that an instance caches. */
export const cachedWorkspacesMax = 1_000;
export const cachedKeysMax = 10_000;
/** Time for which a key or a workspace counts as recently refused in the instance that refused it. */
export const recentRefusalMs = 10_000;
/**
 * Maximum number of refused calls per key and second that leave a record, in one process. It is usually enough to
 * include a call that an operator is asked about.
 */
export const refusalRecordsPerSecond = 5;
