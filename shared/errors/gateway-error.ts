// One error class. Three texts that are never mixed: the code (clients branch on it), the message (people read it)
// and the cause (only our log sees it).
import { type ErrorCode, type ErrorEntry, errorCatalogue } from './error-table.ts';

/** What providers may agree on when they reject a request. */
export const rejectionReasons = [
  'context_length_exceeded',
  'max_tokens_exceeded',
  'content_policy_violation',
  'invalid_prompt',
  'unsupported_parameter',
  'invalid_parameter',
  'invalid_tools',
  'invalid_image',
  'image_too_large',
  'unsupported_image_format',
  'image_download_failed',
] as const;
export type RejectionReason = (typeof rejectionReasons)[number];

/** Codes after which a retry may succeed in general, but not in every case. */
type MayBeFinal = 'no_available_provider' | 'execution_failed';

/** Extras are typed per code: only these codes carry something of their own. */
type ExtrasOf<Code extends ErrorCode> = Code extends 'invalid_request'
  ? { reason?: RejectionReason | undefined }
  : Code extends 'schema_validation_failed'
    ? { attempts: number }
    : Code extends MayBeFinal
      ? { isFinal?: boolean }
      : (typeof errorCatalogue)[Code]['retry'] extends 'wait' | 'soon'
        ? { retryAfterSeconds?: number | undefined }
        : Record<never, never>;

export type FailOptions<Code extends ErrorCode> = ExtrasOf<Code> & {
  /** Replaces the default text of the code. Never holds a secret, a provider's words or a path of ours. */
  message?: string;
  /** The member of the request that is at fault, as a path; left out: that of the code, if it has one. */
  param?: string | undefined;
  cause?: unknown;
};

type AllExtras = {
  reason?: RejectionReason | undefined;
  attempts?: number;
  isFinal?: boolean;
  retryAfterSeconds?: number | undefined;
};

export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly reason: RejectionReason | undefined;
  readonly attempts: number | undefined;
  /** A retry cannot succeed, whatever the code says in general. */
  readonly isFinal: boolean;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, options: FailOptions<ErrorCode> = {}) {
    super(options.message ?? errorCatalogue[code].message, { cause: options.cause });
    const { reason, attempts, isFinal = false, retryAfterSeconds } = options as AllExtras;
    this.code = code;
    this.param = options.param ?? this.entry.param;
    this.reason = reason;
    this.attempts = attempts;
    this.isFinal = isFinal;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  get entry(): ErrorEntry {
    return errorCatalogue[this.code];
  }
}

/** `throw fail('price_cap_exceeded')`. */
export const fail = <Code extends ErrorCode>(
  code: Code,
  ...[options]: Record<never, never> extends ExtrasOf<Code> ? [FailOptions<Code>?] : [FailOptions<Code>]
): GatewayError => new GatewayError(code, options as FailOptions<ErrorCode> | undefined);

export interface Rejection {
  /** What all providers agreed on. */
  readonly reason: RejectionReason | undefined;
  /** The member of the request that all of them complained about. */
  readonly param: string | undefined;
  /** The member that holds the prompt. */
  readonly promptMember: string;
  /** Tokens, of the model that was called. */
  readonly contextLength: number;
}

/** The invalid_request of a request that every provider rejected, in the gateway's own words. */
export function failRejected({ reason, param, promptMember, contextLength }: Rejection): GatewayError {
  if (reason === 'context_length_exceeded') {
    // Coding agents look for these very words, and then shorten the conversation.
    const message = `This model's maximum context length is ${contextLength} tokens (${reason}).`;
    return fail('invalid_request', { message, reason, param: param ?? promptMember });
  }
  const about = param === undefined ? '' : ` because of its member ${param}`;
  const why = reason === undefined ? '' : ` (${reason})`;
  return fail('invalid_request', { message: `Every provider rejected the request${about}${why}.`, reason, param });
}
