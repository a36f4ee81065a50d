// What is remembered of a call of a known key, also of one that was refused: the ledger behind usage reports. Who, what,
// how long and how much; never a prompt, an answer or a key.
import type { ErrorCode } from '../../errors/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';

/**
 * ok           a complete answer
 * cut          a stream that broke after its first output; `cutCode` says how
 * client_gone  the client left before the end; what was relayed is billed
 * any other    the code of the error that the client got instead of an answer
 */
export type CallOutcome = 'ok' | 'cut' | 'client_gone' | ErrorCode;

/** One call to a provider, as part of a call. */
export interface CallAttempt {
  readonly provider: string;
  /** `ok`, or one short word for the failure: `status_500`, `timeout`, `connection`. */
  readonly outcome: string;
  /** Of the provider's answer; undefined: there was none. */
  readonly status?: number | undefined;
  readonly ms: number;
  /** Catalogue id. Only where a call went to others than the one that answered last, or was asked for. */
  readonly model?: string | undefined;
  /** What the provider said of its failure, as `describeProviderText` leaves it. For the operator alone. */
  readonly providerText?: string | undefined;
}

/** What one model of one provider answered, as part of a call. */
export interface CallShare {
  readonly model: string;
  readonly provider: string;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly costPicoUsd: PicoUsd;
}

/** Only scalars and lists of words. Texts are cut at the bound that `record-members.ts` gives them. */
export interface CallRecord {
  readonly workspace: string;
  /** Unique to the call: a record is kept once for it. A call of no function may take its correlation id. */
  readonly executionId: string;
  readonly arrivedAtMs: number;

  readonly keyPublicId: string;
  readonly keyName?: string | undefined;
  /** The HTTP-Referer header as sent, without credentials, query and fragment: they may hold secrets. */
  readonly referer?: string | undefined;
  /** The X-Title header as sent. */
  readonly title?: string | undefined;
  /** The request's own member `user` as sent. */
  readonly user?: string | undefined;

  readonly correlationId: string;
  readonly traceId: string;
  /** This and the next two: as sent. */
  readonly spanId?: string | undefined;
  readonly parentSpanId?: string | undefined;
  readonly sessionId?: string | undefined;

  /** `auto` and function aliases included. Undefined: the body names none that could be read. */
  readonly modelAsked?: string | undefined;
  /** Catalogue id of the model that answered. Undefined: none did. */
  readonly modelServed?: string | undefined;
  /** Undefined: no provider answered. */
  readonly provider?: string | undefined;
  readonly functionId?: string | undefined;
  readonly revisionId?: string | undefined;
  readonly stream: boolean;
  readonly cacheHit: boolean;
  /** Paid with a provider key of the caller, not with credit. */
  readonly isByok: boolean;

  readonly outcome: CallOutcome;
  readonly cutCode?: ErrorCode | undefined;
  /** The message of the error that the client got instead of an answer. */
  readonly errorMessage?: string | undefined;
  /** The answer is the stored one of this call, by its execution id: nothing was done or charged for it. */
  readonly replayOf?: string | undefined;
  /** Provider calls made. */
  readonly attempts: number;
  /** Why the attempts that failed did so, one short word each, such as `status_503`. */
  readonly attemptCauses: readonly string[];
  /** The attempts in their order, the failed ones too. Undefined: not recorded. */
  readonly attemptLog?: readonly CallAttempt[] | undefined;

  readonly promptTokens: number;
  /** Part of promptTokens. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
  /** A count rests on bytes instead of the provider's word. */
  readonly estimated: boolean;
  readonly costPicoUsd: PicoUsd;
  /**
   * The part of tokens and cost that others than `modelServed` of `provider` answered: other steps of a workflow, answers
   * that were no result. The rest belongs to those two. Undefined: there were no others.
   */
  readonly otherShares?: readonly CallShare[] | undefined;

  readonly queuedMs: number;
  /** From the arrival to the first output. Undefined: there was none. */
  readonly firstOutputMs?: number | undefined;
  readonly totalMs: number;
  /** The part of totalMs that the gateway itself took. */
  readonly gatewayMs: number;
}
