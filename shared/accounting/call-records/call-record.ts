// The parts of a call record.
import type { ErrorCode } from '../../errors/index.ts';
import type { ContentKeep } from '../../foundation/constants/index.ts';
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
  /** Position of the credential that was used, from 1; undefined when the provider has one. */
  readonly credential?: number | undefined;
  /** `ok`, or one short word for the failure: `status_500`, `timeout`, `connection`. */
  readonly outcome: string;
  /** Status of the provider's answer; undefined when there was none. */
  readonly status?: number | undefined;
  readonly ms: number;
  /** Catalogue id. Only where a call went to others than the one that answered last, or was asked for. */
  readonly model?: string | undefined;
  /** Where and by which rule the answer fails the schema of the call: `/items/0/price: required`. */
  readonly schemaMismatch?: string | undefined;
  /** Why its server was not reached, in one word: `tls_expired`. For the operator alone. */
  readonly reason?: string | undefined;
  /** The provider's words about its failure, as `describeProviderText` returns them. For the operator alone. */
  readonly providerText?: string | undefined;
}

/** State of the bodies of a call whose workspace keeps them. */
export interface ContentPlace {
  /** `failed`: the storage did not take them. */
  readonly state: 'kept' | 'failed';
  readonly keep: ContentKeep;
  /** They were longer than what is kept of a call. */
  readonly cut: boolean;
}

/** The share of one model at one provider in a call. */
export interface CallShare {
  readonly model: string;
  readonly provider: string;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly costPicoUsd: PicoUsd;
}
