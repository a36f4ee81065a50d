// Defines the parts of a call record.
import type { ErrorCode } from '../../errors/index.ts';
import type { ContentKeep } from '../../foundation/constants/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';

/**
 * The outcome of a call:
 * ok           a complete answer
 * cut          a stream that broke after its first output; `cutCode` names the error
 * client_gone  the client left before the end; the relayed part is billed
 * any other    the code of the error that the client got instead of an answer
 */
export type CallOutcome = 'ok' | 'cut' | 'client_gone' | ErrorCode;

/** One call to a provider, as part of a call. */
export interface CallAttempt {
  readonly provider: string;
  /** Position of the credential, counted from 1; undefined when the provider has only one. */
  readonly credential?: number | undefined;
  /** `ok`, or one short word for the failure, such as `status_500`, `timeout` or `connection`. */
  readonly outcome: string;
  /** Status of the provider's answer; undefined when there was none. */
  readonly status?: number | undefined;
  readonly ms: number;
  /**
   * Catalogue id. Set only if a call went to a model other than the last model that answered, or other than the
   * requested model.
   */
  readonly model?: string | undefined;
  /** Describes where and by which rule the answer fails the schema of the call, such as `/items/0/price: required`. */
  readonly schemaMismatch?: string | undefined;
  /** Reason why the provider's server was not reached, in one word, such as `tls_expired`. For the operator only. */
  readonly reason?: string | undefined;
  /** The provider's text about its failure, as `describeProviderText` returns it. For the operator only. */
  readonly providerText?: string | undefined;
}

/** State of the bodies of a call whose workspace stores them. */
export interface ContentPlace {
  /** `failed` means that the storage did not accept the bodies. */
  readonly state: 'kept' | 'failed';
  readonly keep: ContentKeep;
  /** True if the bodies were longer than the bound for a call. */
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
