// Defines the one error class. An error has three texts that are never mixed: the code (clients branch on it), the
// message (people read it; for a rejected request it includes the provider's words) and the cause (only the log has
// it).
import type { StageResource } from '../foundation/constants/index.ts';
import { type ErrorCode, type ErrorEntry, type ErrorStatus, errorCatalogue } from './error-table.ts';

/** A provider's words about the client's own request. */
interface ProviderWords {
  readonly text: string;
  /** Set if the client repairs its request by the exact words, which are then the whole message. */
  readonly isWholeMessage: boolean;
  /** Advice for the operator. */
  readonly advice?: string | undefined;
}

/** Reasons on which providers may agree when they reject a request. */
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

/** Codes after which a retry usually, but not always, may succeed. */
type MayBeFinal = 'no_available_provider' | 'execution_failed';

/** Extras, typed per code, because only these codes have their own extras. */
type ExtrasOf<Code extends ErrorCode> = Code extends 'invalid_request'
  ? { reason?: RejectionReason | undefined } & CommonExtras
  : Code extends 'not_found'
    ? CommonExtras
    : Code extends 'schema_validation_failed'
      ? { attempts: number }
      : Code extends 'unknown_model'
        ? { isUnlisted?: boolean }
        : Code extends MayBeFinal
          ? { isFinal?: boolean }
          : (typeof errorCatalogue)[Code]['retry'] extends 'wait' | 'soon'
            ? { retryAfterSeconds?: number | undefined; exhausted?: StageResource; isPaused?: true; isFinal?: boolean }
            : Record<never, never>;

/** Words of a provider that rejected the request. */
interface CommonExtras {
  readonly providerWords?: ProviderWords | undefined;
  readonly providerCode?: string | undefined;
}

type FailOptions<Code extends ErrorCode> = ExtrasOf<Code> & {
  /**
   * Replaces the default text of the code. Never contains a secret, a provider's words (see `providerWords`) or a path
   * of the gateway.
   */
  message?: string;
  /** Path of the request's field at fault; default: the path of the code, if it has one. */
  param?: string | undefined;
  cause?: unknown;
};

type AllExtras = CommonExtras & {
  reason?: RejectionReason | undefined;
  attempts?: number;
  isFinal?: boolean;
  retryAfterSeconds?: number | undefined;
  exhausted?: StageResource;
  isPaused?: true;
  isUnlisted?: boolean;
};

export class GatewayError extends Error {
  /** Compares by name, because a bundle that is loaded on demand has a class of its own. */
  static override [Symbol.hasInstance](error: unknown): boolean {
    return error instanceof Error && error.name === 'GatewayError';
  }

  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  /** The message without the provider's words. */
  readonly ownMessage: string;
  readonly param: string | undefined;
  readonly reason: RejectionReason | undefined;
  readonly attempts: number | undefined;
  /** True if a retry cannot succeed, whatever the code means in general. */
  readonly isFinal: boolean;
  readonly retryAfterSeconds: number | undefined;
  /** Set if a larger stage would have served the request. */
  readonly exhausted: StageResource | undefined;
  /** True if operators have paused the gateway. */
  readonly isPaused: boolean;
  /** True if the catalogue has the model, but the caller's list of models does not. The caller never sees this. */
  readonly isUnlisted: boolean;
  /** Anthropic's name for the fault, on which its SDK branches. */
  readonly providerCode: string | undefined;

  constructor(code: ErrorCode, options: FailOptions<ErrorCode> = {}) {
    const { reason, providerWords, attempts, isFinal = false, ...more } = options as AllExtras;
    const { retryAfterSeconds, providerCode, exhausted, isPaused = false, isUnlisted = false } = more;
    const ownMessage = options.message ?? errorCatalogue[code].message;
    super(withProviderWords(ownMessage, providerWords), { cause: options.cause });
    this.code = code;
    this.ownMessage = ownMessage;
    this.param = options.param ?? this.entry.param;
    this.reason = reason;
    this.attempts = attempts;
    this.isFinal = isFinal;
    this.retryAfterSeconds = retryAfterSeconds;
    this.providerCode = providerCode;
    this.exhausted = exhausted;
    this.isPaused = isPaused;
    this.isUnlisted = isUnlisted;
  }

  get entry(): ErrorEntry<ErrorStatus> {
    return errorCatalogue[this.code];
  }
}

const quotedMaxCharacters = 400;
const wholeMaxCharacters = 2_000;

function withProviderWords(message: string, words: ProviderWords | undefined): string {
  if (words === undefined) return message;
  const { text, isWholeMessage, advice } = words;
  const maxCharacters = isWholeMessage ? wholeMaxCharacters : quotedMaxCharacters;
  const line = text.replace(/\s+/g, ' ').trim();
  const shown = line.length <= maxCharacters ? line : `${line.slice(0, maxCharacters - 1)}…`;
  const wholeText = isWholeMessage ? shown : `${message} The provider said: ${shown}`;
  return advice === undefined ? wholeText : `${wholeText} ${advice}`;
}

/** Makes an error: `throw fail('price_cap_exceeded')`. */
export const fail = <Code extends ErrorCode>(
  code: Code,
  ...[options]: Record<never, never> extends ExtrasOf<Code> ? [FailOptions<Code>?] : [FailOptions<Code>]
): GatewayError => new GatewayError(code, options as FailOptions<ErrorCode> | undefined);

interface Rejection {
  /** The reason on which all providers agreed, if any. */
  readonly reason: RejectionReason | undefined;
  /** The request's field about which all failures complained, if any. */
  readonly agreedParam: string | undefined;
  /** The field named by the provider whose words are quoted. */
  readonly namedParam?: string | undefined;
  readonly words?: ProviderWords | undefined;
  readonly providerCode?: string | undefined;
  /** The field that contains the prompt. */
  readonly promptMember: string;
  /** Context length of the called model, in tokens. */
  readonly contextLength: number;
}

/** Returns the invalid_request for a request that every provider rejected. */
export function failRejected({
  reason,
  agreedParam,
  namedParam,
  words,
  providerCode,
  ...request
}: Rejection): GatewayError {
  const param = agreedParam ?? namedParam;
  const quotation = { reason, providerWords: words, providerCode };
  if (reason === 'context_length_exceeded') {
    // Coding agents search for these exact words, and then shorten the conversation.
    const message = `This model's maximum context length is ${request.contextLength} tokens (${reason}).`;
    return fail('invalid_request', { ...quotation, message, param: param ?? request.promptMember });
  }
  const about = agreedParam === undefined ? '' : ` because of its member ${agreedParam}`;
  const why = reason === undefined ? '' : ` (${reason})`;
  return fail('invalid_request', {
    ...quotation,
    message: `Every provider rejected the request${about}${why}.`,
    param,
  });
}
