// Time limits of a call and of everything that must outlast it, all derived from the stream budget of a stage.

/**
 * Range of a stage's `streamBudgetSeconds`. Lambda ends every function after 900 s, and the limits after the budget
 * need some of them.
 */
export const streamBudget = { defaultSeconds: 55, minSeconds: 55, maxSeconds: 840 } as const;

/** The budget of a plain call, queueing and fallback included, and of a stream until its first output. */
export const requestBudgetMs = 55_000;

/**
 * Budget of images, speech and transcriptions, which send nothing until they are complete: image models take a minute
 * and more. A process that lives gives them at least so long, and a distribution, which bears two minutes of silence, at
 * most; else they have that of a stream.
 */
export const slowAnswerSeconds = 110;

/**
 * The longest silence that CloudFront allows. It is above the budget, because a JSON answer sends nothing until it is
 * complete; a stream is kept alive by comments.
 */
export const originReadTimeoutSeconds = 60;
/** A stream that is silent for this long gets a comment: two fit into the 30 s after which common proxies give up. */
export const keepAliveCommentMs = 15_000;

/**
 * The limits of one process, in the order in which they end: budget < delivery < function < reservation, completion.
 */
export interface CallTimes {
  /** End of a stream whose first output came within `requestBudgetMs`. */
  readonly streamBudgetMs: number;
  /** Of an interface whose answers take long: its budget, and that of its streams. */
  readonly slow: { readonly requestBudgetMs: number; readonly streamBudgetMs: number; readonly holdLifeMs: number };
  /** From the arrival of a request to the last byte of its answer, however slowly it is read; `least`: from its first. */
  readonly deliveryMs: { readonly text: number; readonly stream: number; readonly least: number };
  /** Lambda's own limit: settlement still fits in after a reader that never reads. */
  readonly functionTimeoutSeconds: number;
  /**
   * Lifetime of a reservation and of an Idempotency-Key: longer than the limit of their process, so that the owner is
   * dead when they end.
   */
  readonly holdLifeMs: number;
  /** The distribution's limit for a whole answer: longer than Lambda's, so that the function ends a call first. */
  readonly completionTimeoutSeconds: number;
}

/** From the budget to each limit behind it, in seconds. */
const after = { delivery: 5, functionTimeout: 10, hold: 15, completionTimeout: 20 } as const;

/** Throws a RangeError for a budget outside the allowed range. `slowSeconds`: of images, speech and transcriptions. */
export function callTimes(
  streamBudgetSeconds: number = streamBudget.defaultSeconds,
  slowSeconds: number = streamBudgetSeconds,
): CallTimes {
  const { minSeconds, maxSeconds } = streamBudget;
  const longestSeconds = Math.max(streamBudgetSeconds, slowSeconds);
  if (!isStreamBudget(streamBudgetSeconds) || !isStreamBudget(slowSeconds)) {
    throw new RangeError(`the stream budget must be a whole number of seconds from ${minSeconds} to ${maxSeconds}`);
  }
  return {
    streamBudgetMs: streamBudgetSeconds * 1_000,
    slow: {
      requestBudgetMs: slowSeconds * 1_000,
      streamBudgetMs: longestSeconds * 1_000,
      holdLifeMs: (longestSeconds + after.hold) * 1_000,
    },
    deliveryMs: {
      text: requestBudgetMs + after.delivery * 1_000,
      stream: (longestSeconds + after.delivery) * 1_000,
      least: after.delivery * 1_000,
    },
    functionTimeoutSeconds: longestSeconds + after.functionTimeout,
    holdLifeMs: (streamBudgetSeconds + after.hold) * 1_000,
    completionTimeoutSeconds: longestSeconds + after.completionTimeout,
  };
}

export const isStreamBudget = (seconds: number): boolean =>
  Number.isInteger(seconds) && seconds >= streamBudget.minSeconds && seconds <= streamBudget.maxSeconds;

/** Lifetime under the default budget. */
export const { holdLifeMs } = callTimes();

/** Where the server of a container listens, not as root. */
export const containerPort = 8_080;

/** Where the counts of a process are read: on a port of its own, which the network protects in place of a key. */
export const metricsEndpoint = { path: '/metrics', port: 9_464 } as const;

/** How long a container keeps an idle connection: longer than its load balancer, which waits for the longest answer. */
export const containerKeepAliveMs = 900_000;

/** ECS kills a container this long after SIGTERM: its maximum. */
export const containerStopSeconds = 120;

/**
 * Steps of a container's stop: running calls end, are then cut off and answered, and then settled. The rest of the time
 * sends spans and log lines.
 */
export const containerStop = { endMaxMs: 100_000, answerMaxMs: 5_000, settleMaxMs: 10_000 } as const;
