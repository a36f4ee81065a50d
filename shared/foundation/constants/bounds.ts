// Fixed limits of the service. Every number here is a promise to clients, or says why it is this one.

/** Plain calls. Lambda refuses bodies over 6 MB with an answer of its own; base64 adds a third to ours. */
export const plainBodyMaxBytes = 4 * 1024 * 1024;
/** Bodies with files, in a process that lives: a transcription's file is as large at OpenAI. */
export const formBodyMaxBytes = 25 * 1024 * 1024;
/** Bound of the body of a function call. */
export const functionBodyMaxBytes = 256 * 1024;
/** Headers of one request, all together: the default of Node's server, so that every entry point takes the same. */
export const headersMaxBytes = 16 * 1024;

/** JSON values in the body of a request, in a provider's answer, or in one event of it. */
export const jsonValuesMax = 100_000;

/** Providers of Responses refuse a lower bound of the output: it is raised. */
export const responsesOutputMinTokens = 16;

/** Bound of `n`, and so of the choices in an answer. */
export const choicesMax = 128;

/** Number and length of stop sequences that the gateway applies itself, where the provider accepts fewer or none. */
export const ownStopsMax = 64;
export const ownStopMaxCharacters = 256;
/** OpenAI's chat completions take no more. */
export const openAiStopsMax = 4;

/** Calls of functions in flight in a new workspace. */
export const functionCallsDefault = 20;

/** When the spend that counts against a limit starts again. Weeks begin on Monday. */
export const spendLimitResets = ['daily', 'weekly', 'monthly'] as const;
export type SpendLimitReset = (typeof spendLimitResets)[number];

/** Time that a silent provider leaves to each candidate after it. */
export const reservePerCandidateMs = 10_000;
/** Defaults of a provider entry. */
export const connectTimeoutDefaultMs = 3_000;
export const firstChunkTimeoutDefaultMs = 20_000;
export const idleTimeoutDefaultMs = 15_000;
/**
 * Below the time for which providers and load balancers commonly keep an idle socket open (60 s), so that the gateway
 * closes first.
 */
export const keepAliveIdleMs = 50_000;
/** Sockets to one provider. A Lambda environment uses one; a local run or a container needs one per request. */
export const socketsPerProviderMax = 2_048;

/** Answers one call may be charged for: a structured output is asked for again at most twice. */
export const chargedAnswersMax = 3;

/** One provider answer, or one event of a stream: far above any model's output, far below a 512 MB function. */
export const upstreamBodyMaxBytes = 16 * 1024 * 1024;
/** Bound of an answer that is mostly not parsed: embeddings (1,536 numbers for each input) or log probabilities. */
export const largeBodyMaxBytes = 64 * 1024 * 1024;
/** A large image in one event. */
export const upstreamEventMaxBytes = 16 * 1024 * 1024;
/** Events kept back before the first real output: the first two of a Responses stream may repeat a request of 4 MiB each. */
export const heldBackMaxBytes = 8 * 1024 * 1024;
/** How long a stream is read on after its client left: the client pays for the tokens that were used. */
export const streamReadOnMaxMs = 10_000;
/**
 * Bound of a stream that is collected for the response cache or a schema check, and of a JSON answer for that cache. A
 * longer one is relayed and not stored.
 */
export const collectedStreamMaxBytes = 8 * 1024 * 1024;
/** An answer that is stored for retries with its Idempotency-Key. Beyond it the key is used up, and has no answer. */
export const storedAnswerMaxBytes = 32 * 1024 * 1024;
/** Levels of a body that a client or the gateway has written, when it is scanned again: by far more than a client may send. */
export const bodyDepthMax = 1_024;
/** Part of a provider's error body that is read to classify it. */
export const upstreamErrorMaxBytes = 64 * 1024;

/** Any store call, and all that must succeed before a provider is called: 503 within 2 seconds. */
export const storeCallTimeoutMs = 800;
export const admissionTimeoutMs = 1_900;

/** How long an instance may use its copy of catalogue and workspace before it asks whether they changed. */
export const configFreshMs = 5_000;
/** Workspaces and keys that an instance keeps in memory. */
export const cachedWorkspacesMax = 1_000;
export const cachedKeysMax = 10_000;
/** How long a key or a workspace counts as recently refused in the instance that refused it. */
export const recentRefusalMs = 10_000;
/** Refused calls of one key that leave a record, in one process: one that is asked about is among them, as a rule. */
export const refusalRecordsPerSecond = 5;
