// Derives the time limits of a call, and of everything that must outlast it, from the stream budget of a stage.

/**
 * Range of a stage's `streamBudgetSeconds`. Lambda ends every function after 900 s, and the limits after the budget
 * need part of it.
 */
export const streamBudget = { defaultSeconds: 55, minSeconds: 55, maxSeconds: 840 } as const;

/** Budget of a plain call, queueing and fallback included, and of a stream until its first output. */
export const requestBudgetMs = 55_000;

/**
 * Budget of images, speech and transcriptions, which send nothing until they are complete. Image models take a minute
 * and more. A process that outlives its calls gives them at least this time. A distribution, which allows two minutes
 * of silence, gives them at most this time. Otherwise they have the budget of a stream.
 */
export const slowAnswerSeconds = 110;

/**
 * The longest silence that CloudFront allows. It is above the budget, because a JSON answer sends nothing until it is
 * complete; a stream is kept alive by comments.
 */
export const originReadTimeoutSeconds = 60;
/**
 * Silence after which a stream gets a comment, so that two comments fit into the 30 s after which common proxies give
 * up.
 */
export const keepAliveCommentMs = 15_000;

/**
 * The limits of one process, in the order in which they end: budget < delivery < function < reservation, completion.
 */
export interface CallTimes {
  /** Budget of a stream whose first output came within `requestBudgetMs`. */
  readonly streamBudgetMs: number;
  /** Budgets of an interface whose answers take long, for plain calls and for streams. */
  readonly slow: { readonly requestBudgetMs: number; readonly streamBudgetMs: number; readonly holdLifeMs: number };
  /**
   * Time from the arrival of a request to the last byte of its answer, however slowly it is read; `least` is the time
   * for its first byte.
   */
  readonly deliveryMs: { readonly text: number; readonly stream: number; readonly least: number };
  /** Lambda's own limit, in which settlement fits even after a reader that never reads. */
  readonly functionTimeoutSeconds: number;
  /**
   * Lifetime of a reservation and of an Idempotency-Key, which is longer than the limit of their process, so that the
   * owner is dead when they expire.
   */
  readonly holdLifeMs: number;
  /**
   * The distribution's limit for a whole answer, which is longer than the limit of Lambda, so that the function ends a
   * call first.
   */
  readonly completionTimeoutSeconds: number;
}

/** Seconds from the budget to each limit after it. */
const after = { delivery: 5, functionTimeout: 10, hold: 15, completionTimeout: 20 } as const;

/**
 * Throws a RangeError for a budget outside the allowed range. `slowSeconds` is the budget of images, speech and
 * transcriptions.
 */
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

/** Lifetime of a reservation under the default budget. */
export const { holdLifeMs } = callTimes();

/** Port of a container's server, above 1024 because it does not run as root. */
export const containerPort = 8_080;

/** Endpoint of a process's metrics, on a separate port, which the network protects in place of a key. */
export const metricsEndpoint = { path: '/metrics', port: 9_464 } as const;

/**
 * Time for which a container keeps an idle connection open. It is longer than the time of its load balancer, which
 * waits for the longest answer.
 */
export const containerKeepAliveMs = 900_000;

/** Time after SIGTERM at which ECS kills a container, which is the maximum that ECS allows. */
export const containerStopSeconds = 120;

/**
 * Steps of a container's stop: running calls end, are then cut off and answered, and then settled. The remaining time
 * is for sending spans and log lines.
 */
export const containerStop = { endMaxMs: 100_000, answerMaxMs: 5_000, settleMaxMs: 10_000 } as const;
