// A provider's failure becomes data here, once. Its words are not inspected later.
import type { RejectionReason } from '../../errors/index.ts';
import type { RefusedAnswer } from '../../protocol/interfaces/index.ts';
import { findMember, isJsonObject, type JsonText } from '../../protocol/wire/index.ts';
import { accountLimit, faultBehindInvalid } from './fault-behind-invalid.ts';
import type { ProviderText } from './provider-text.ts';

/**
 * invalid       the provider rejected the request itself: another provider may still take it
 * rate_limited  come back later
 * failed        anything else that is the provider's doing, a refusal of the gateway's credential included
 * deadline      the budget of the request ended: no provider is at fault, and there is no time for another
 * client_gone   the client left: no answer is needed any more
 */
export type FailureKind = 'invalid' | 'rate_limited' | 'failed' | 'deadline' | 'client_gone';

export interface AttemptFailure {
  readonly kind: FailureKind;
  /** Only of `invalid`, and only where the cause is recognised. */
  readonly reason?: RejectionReason | undefined;
  /** Only of `invalid`: the member that the provider complains about, in its spelling. */
  readonly param?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** The provider refused the credential it was called with. */
  readonly refusedCredential?: boolean | undefined;
  /** The account that the credential belongs to has no quota left. */
  readonly hasNoQuota?: boolean | undefined;
  /** A fault of the gateway itself: it is logged, and counts neither in statistics nor for cooling. */
  readonly isOurFault?: boolean | undefined;
  /** What is needed before the provider can be called did not answer: it was not called. */
  readonly isUnavailable?: boolean | undefined;
  /** The provider did its work and is paid for it, though the gateway cannot hand it on: charged, and no other provider is asked. */
  readonly refusedAnswer?: RefusedAnswer | undefined;
  /** Of an answer that came. */
  readonly status?: number | undefined;
  /** Only of `invalid`: what Anthropic calls the fault of a thread. */
  readonly threadCode?: string | undefined;
  /** One word for the log: never a provider's text. */
  readonly cause: string;
  readonly providerText?: ProviderText | undefined;
}

/** Statuses that say the request is at fault. 401 and 403 are about the credential, 404 about the catalogue. */
const invalidStatuses = new Set([400, 413, 422]);
/** A thread that its provider does not know is no gap of the catalogue. */
const threadStatuses = new Set([400, 404]);
const rateLimitedStatus = 429;
const credentialStatuses = new Set([401, 403]);
const quotaStatus = 402;

/** Classifies an answer that is no success, by its status, what its body says, and `x-amzn-errortype` where it has one. */
export function classifyStatus(
  status: number,
  body: unknown,
  retryAfterSeconds?: number,
  errorType?: string,
): AttemptFailure {
  const details = readErrorDetails(body);
  const cause = `status_${status}`;
  const threadCode = threadCodeOf(body);
  if (threadCode !== undefined && threadStatuses.has(status)) return { kind: 'invalid', threadCode, status, cause };
  const other = invalidStatuses.has(status) ? faultBehindInvalid(body, details.message, errorType) : undefined;
  if (other !== undefined)
    return { status, cause, ...(other.kind === 'rate_limited' && { retryAfterSeconds }), ...other };
  const hasNoQuota = details.code === 'insufficient_quota' || status === quotaStatus || accountLimit(details.message);
  if (status === rateLimitedStatus && !hasNoQuota) return { kind: 'rate_limited', retryAfterSeconds, status, cause };
  if (invalidStatuses.has(status))
    return { kind: 'invalid', reason: reasonOf(details), param: paramOf(body), status, cause };
  return {
    kind: 'failed',
    status,
    cause,
    ...(credentialStatuses.has(status) ? { refusedCredential: true } : {}),
    ...(hasNoQuota ? { hasNoQuota } : {}),
  };
}

/** Classifies an error object inside a 200 answer or a stream. */
export function classifyErrorObject(body: unknown): AttemptFailure {
  const details = readErrorDetails(body);
  if (details.status !== undefined)
    return { ...classifyStatus(details.status, body), cause: `error_object_${details.status}` };
  if (accountLimit(details.message)) return { kind: 'failed', hasNoQuota: true, cause: 'error_object' };
  const word = `${details.code} ${details.type}`;
  if (/rate_?limit|too_many_requests/.test(word)) return { kind: 'rate_limited', cause: 'error_object' };
  if (/invalid_request|invalid_prompt|context_length|content_policy|content_filter/.test(word)) {
    return { kind: 'invalid', reason: reasonOf(details), param: paramOf(body), cause: 'error_object' };
  }
  return { kind: 'failed', cause: 'error_object' };
}

interface ErrorDetails {
  readonly code: string;
  readonly type: string;
  readonly parameter: string;
  readonly message: string;
  /** Some providers put the status into `code`. */
  readonly status: number | undefined;
}

/** Of a message only the beginning is looked at: it may be the whole prompt. */
const messageBytesMax = 2_000;

function readErrorDetails(body: unknown): ErrorDetails {
  const outer = outermost(body);
  const error = isJsonObject(outer.error) ? outer.error : outer;
  const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, messageBytesMax).toLowerCase() : '');
  const status = [error.code, error.status, outer.code].map(Number).find((n) => n >= 400 && n < 600);
  return {
    code: text(error.code),
    type: text(error.type),
    parameter: text(error.param),
    message: text(error.message ?? outer.error ?? outer.message),
    status,
  };
}

const threadCodes = /^thread_[a-z_]{1,64}$/;

function threadCodeOf(body: unknown): string | undefined {
  const { error } = outermost(body);
  const details = isJsonObject(error) && isJsonObject(error.details) ? error.details : {};
  const { error_code: code } = details;
  return typeof code === 'string' && threadCodes.test(code) ? code : undefined;
}

/** Google answers some calls with a list of one error. */
function outermost(body: unknown): Record<string, unknown> {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  return isJsonObject(first) ? first : {};
}

/** `messages[0].content`, say. Anything else might be a provider's words. */
const paramShape = /^[A-Za-z_]\w{0,63}(\.?\[\d{1,6}\]|\.\w{1,64}){0,8}$/;

function paramOf(body: unknown): string | undefined {
  const outer = outermost(body);
  const error = isJsonObject(outer.error) ? outer.error : outer;
  const { param, message } = error;
  if (typeof param === 'string' && paramShape.test(param)) return param;
  return typeof message === 'string' ? paramInWords.exec(message.slice(0, messageBytesMax))?.[1] : undefined;
}

/** `messages.0.content: …`, as providers write that have no member for it. */
const paramInWords = /^([a-z_]\w{0,63}(?:\.\w{1,64}){0,8}): /;

/**
 * The member that all of them complain about, where it is the request's own: a provider may name what it was sent
 * under another name.
 */
export function agreedParam(failures: readonly AttemptFailure[], json: JsonText): string | undefined {
  const [param, ...others] = new Set(failures.map((failure) => failure.param));
  return others.length > 0 ? undefined : ownParam(param, json);
}

/** Undefined: the request has no such member. */
export const ownParam = (param: string | undefined, json: JsonText): string | undefined =>
  param === undefined || findMember(json, /^\w+/.exec(param)?.[0] ?? '') === undefined ? undefined : param;

/** From the surest sign to the vaguest: the first that matches names the reason. */
const reasonSigns: readonly [RejectionReason, (details: ErrorDetails) => boolean][] = [
  [
    'context_length_exceeded',
    ({ code, message }) =>
      has(code, /context_length|context_window/) ||
      has(
        message,
        /context (length|window|limit)|maximum context|(prompt|input) is too long|token count .{0,30}exceeds/,
      ),
  ],
  [
    'content_policy_violation',
    ({ code, type, message }) =>
      has(`${code} ${type}`, /content_policy|content_filter|moderation/) ||
      has(message, /content policy|content management policy|content filter|violates the usage polic/),
  ],
  // A code that says so outweighs the parameter it is about: max_tokens, for instance, where only max_completion_tokens goes.
  ['unsupported_parameter', ({ code }) => has(code, /unsupported_parameter|unknown_parameter/)],
  [
    'image_too_large',
    ({ code, message }) => has(code, /image_too_large/) || has(message, /image (is |size )?.{0,20}(too large|exceeds)/),
  ],
  [
    'unsupported_image_format',
    ({ code, message }) =>
      has(code, /unsupported_image|invalid_image_format/) ||
      has(message, /unsupported image|unsupported mime type: image|media_type: input should be|image\.format' failed/),
  ],
  [
    'image_download_failed',
    ({ code, message }) =>
      has(code, /image_download|invalid_image_url/) ||
      has(
        message,
        /(download|fetch)\w* .{0,30}image|image .{0,40}could not be (downloaded|fetched)|unable to download the file|fetch content from the provided url/,
      ),
  ],
  [
    'invalid_image',
    ({ code, message }) =>
      has(code, /image/) || has(message, /(invalid|could not (process|parse)|unable to process|corrupt).{0,20} image/),
  ],
  [
    'max_tokens_exceeded',
    ({ code, parameter, message }) =>
      has(code, /max_tokens/) ||
      (has(parameter, /^max_(completion_|output_)?tokens$/) && !has(code, /_below_min|invalid_type|unsupported_/)) ||
      has(
        message,
        /max_(completion_)?tokens.{0,40}(too large|at most|exceed|less than| > )|maximum tokens you requested|maxoutputtokens value/,
      ),
  ],
  [
    'invalid_tools',
    ({ code, parameter, message }) =>
      has(code, /tool|function/) ||
      has(parameter, /^(tools|tool_choice|functions)/) ||
      has(message, /\btools?\b.{0,40}(invalid|schema)|function_declarations/),
  ],
  [
    'unsupported_parameter',
    ({ code, message }) =>
      has(code, /unsupported_value/) ||
      has(
        message,
        /unsupported (parameter|value)|unrecognized (request )?argument|extra (inputs|fields) are not permitted|unknown parameter|extraneous key|unknown name "|may only be set to|is not enabled for/,
      ),
  ],
  [
    'invalid_prompt',
    ({ code, parameter }) => has(code, /invalid_prompt|invalid_messages/) || has(parameter, /^messages/),
  ],
  [
    'invalid_parameter',
    ({ code, parameter }) => has(code, /invalid_(parameter|value|type)|_(above|below)_m(ax|in)/) || parameter !== '',
  ],
];

const has = (text: string, sign: RegExp): boolean => sign.test(text);

const reasonOf = (details: ErrorDetails): RejectionReason | undefined =>
  reasonSigns.find(([, matches]) => matches(details))?.[0];

/** A wait over a day is a fault of the provider. */
const retryAfterMaxSeconds = 86_400;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * When a provider wants to be called again: seconds from now, rounded up, at least 1. Three spellings are in use.
 * Undefined: it did not say, or what it said is no time.
 */
export function readRetryAfterSeconds(headers: Headers, nowMs: number): number | undefined {
  const milliseconds = Number(textOf(headers['retry-after-ms']) ?? Number.NaN);
  if (milliseconds > 0) return clamp(milliseconds / 1_000);
  const text = textOf(headers['retry-after']);
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (!Number.isNaN(seconds)) return seconds > 0 ? clamp(seconds) : undefined;
  const atMs = Date.parse(text);
  return atMs > nowMs ? clamp((atMs - nowMs) / 1_000) : undefined;
}

const textOf = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

const clamp = (seconds: number): number => Math.min(Math.max(Math.ceil(seconds), 1), retryAfterMaxSeconds);
