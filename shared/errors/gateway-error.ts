// One error class. Three texts that are never mixed: the code (clients branch on it), the message (people read it)
// and the cause (only our log sees it).
import { type ErrorCode, type ErrorEntry, errorCatalogue } from './catalogue.ts';

/** What providers may agree on when they reject a request (contract 4). */
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

/** Extras are typed per code: only these codes carry something of their own. */
type ExtrasOf<Code extends ErrorCode> = Code extends 'invalid_request'
  ? { reason?: RejectionReason | undefined }
  : Code extends 'schema_validation_failed'
    ? { attempts: number }
    : (typeof errorCatalogue)[Code]['retry'] extends 'wait' | 'soon'
      ? { retryAfterSeconds?: number | undefined }
      : Record<never, never>;

export type FailOptions<Code extends ErrorCode> = ExtrasOf<Code> & {
  /** Replaces the default text of the code. Never holds a secret, a provider's words or a path of ours. */
  message?: string;
  cause?: unknown;
};

export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly reason?: RejectionReason | undefined;
  readonly attempts?: number | undefined;
  readonly retryAfterSeconds?: number | undefined;

  constructor(code: ErrorCode, options: FailOptions<ErrorCode> = {}) {
    super(options.message ?? errorCatalogue[code].message, { cause: options.cause });
    this.code = code;
    if ('reason' in options) this.reason = options.reason as RejectionReason | undefined;
    if ('attempts' in options) this.attempts = options.attempts as number;
    if ('retryAfterSeconds' in options) this.retryAfterSeconds = options.retryAfterSeconds as number | undefined;
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
