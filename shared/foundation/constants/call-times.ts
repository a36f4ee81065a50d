// How long a call may take, and everything that must outlast it. All of it follows from the stream budget of a stage.

/**
 * What `streamBudgetSeconds` of a stage may be. Lambda ends every function after 900 s, and the limits behind
 * the budget need some of them.
 */
export const streamBudget = { defaultSeconds: 55, minSeconds: 55, maxSeconds: 840 } as const;

/** The budget of a plain call, queueing and fallback included, and of a stream until its first output. */
export const requestBudgetMs = 55_000;

/**
 * The longest silence that CloudFront allows. A JSON answer sends nothing until it is complete, so it stands above the
 * budget; a stream is kept alive by comments.
 */
export const originReadTimeoutSeconds = 60;
/** A stream that says nothing for so long gets a comment: two fit into the 30 s after which common proxies give up. */
export const keepAliveCommentMs = 15_000;

/** The limits of one process, in the order in which they end: budget < delivery < function < hold, completion. */
export interface CallTimes {
  /** A stream whose first output came within `requestBudgetMs` goes on until then. */
  readonly streamBudgetMs: number;
  /** From the arrival of a request to the last byte of its answer, however slowly it is read. */
  readonly deliveryMs: { readonly text: number; readonly stream: number };
  /** Lambda's own limit: settlement fits in behind a reader that never reads. */
  readonly functionTimeoutSeconds: number;
  /** What a call has reserved, and its Idempotency-Key: past the limit of its process, so that its owner is dead. */
  readonly holdLifeMs: number;
  /** The distribution's limit for a whole answer: longer than Lambda's, so that the function is what ends a call. */
  readonly completionTimeoutSeconds: number;
}

/** From the budget to each limit behind it, in seconds. */
const after = { delivery: 5, functionTimeout: 10, hold: 15, completionTimeout: 20 } as const;

/** Throws a RangeError for what no stage may have. */
export function callTimes(streamBudgetSeconds: number = streamBudget.defaultSeconds): CallTimes {
  const { minSeconds, maxSeconds } = streamBudget;
  if (!isStreamBudget(streamBudgetSeconds)) {
    throw new RangeError(`the stream budget must be a whole number of seconds from ${minSeconds} to ${maxSeconds}`);
  }
  return {
    streamBudgetMs: streamBudgetSeconds * 1_000,
    deliveryMs: {
      text: requestBudgetMs + after.delivery * 1_000,
      stream: (streamBudgetSeconds + after.delivery) * 1_000,
    },
    functionTimeoutSeconds: streamBudgetSeconds + after.functionTimeout,
    holdLifeMs: (streamBudgetSeconds + after.hold) * 1_000,
    completionTimeoutSeconds: streamBudgetSeconds + after.completionTimeout,
  };
}

export const isStreamBudget = (seconds: number): boolean =>
  Number.isInteger(seconds) && seconds >= streamBudget.minSeconds && seconds <= streamBudget.maxSeconds;

/** Of the default budget. */
export const { holdLifeMs } = callTimes();

/** Where the server of a container listens, not as root. */
export const containerPort = 8_080;

/** ECS kills a container this long after SIGTERM: its maximum. */
export const containerStopSeconds = 120;

/** What a container does of it: running calls end, then are cut and answer, then settle. The rest sends spans and lines. */
export const containerStop = { endMaxMs: 100_000, answerMaxMs: 5_000, settleMaxMs: 10_000 } as const;
