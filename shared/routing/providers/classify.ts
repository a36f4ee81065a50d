// Converts a provider's failure to data, once. Its text is not inspected later.
import type { GatewayError, RejectionReason } from '../../errors/index.ts';
import type { UnusedAnswer } from '../../protocol/wire/index.ts';
import { findMember, isJsonObject, type JsonText } from '../../protocol/wire/index.ts';
import { innerError, outermost } from './error-bodies.ts';
import { accountLimit, faultBehindInvalid, faultOfCode, readRetryDelaySeconds } from './fault-behind-invalid.ts';
import type { ProviderText } from './provider-text.ts';
import { type ErrorDetails, isContextOverflow, reasonOf, rejectsRequest } from './rejection-reasons.ts';

/**
 * The kind of a failure:
 * invalid       the provider rejected the request itself: another provider may still accept it
 * rate_limited  the provider may be called again later
 * failed        any other failure of the provider, a refusal of the gateway's credential included
 * deadline      the budget of the request ended: no provider is at fault, and there is no time for another
 * client_gone   the client left: no answer is needed any more
 */
export type FailureKind = 'invalid' | 'rate_limited' | 'failed' | 'deadline' | 'client_gone';

export interface AttemptFailure {
  readonly kind: FailureKind;
  /** Reason; only for `invalid`, and only if the cause is recognized. */
  readonly reason?: RejectionReason | undefined;
  /** The field about which the provider complains, in its spelling; only for `invalid`. */
  readonly param?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** True if the provider refused the credential. */
  readonly refusedCredential?: boolean | undefined;
  /** True if the account of the credential has no quota left. */
  readonly hasNoQuota?: boolean | undefined;
  /** True for a fault of the gateway itself, which is logged, and counts neither in statistics nor for a cooldown. */
  readonly isOurFault?: boolean | undefined;
  /** True if a precondition of the call did not answer, so that the provider was not called. */
  readonly isUnavailable?: boolean | undefined;
  /**
   * Final answer to the call, whatever other candidates answered, because there is no memory for the request, or for
   * the answer.
   */
  readonly refusal?: GatewayError | undefined;
  /**
   * The answer of a provider that did its work and is paid for it, although the gateway cannot pass on the answer. The
   * answer is charged, and no other provider is called.
   */
  readonly unusedAnswer?: UnusedAnswer | undefined;
  /**
   * True if the request was sent on a pooled socket that broke at once. Most likely the request was not read, and the
   * failure is no evidence about the provider.
   */
  readonly wasDead?: boolean | undefined;
  /** Status of the answer. */
  readonly status?: number | undefined;
  /** Anthropic's code for the fault; only for `invalid`. */
  readonly providerCode?: string | undefined;
  /** A word for the log, which is never a provider's text. */
  readonly cause: string;
  /** Reason in one word, for the operator, why the server was not reached, or why the connection broke. */
  readonly connectionFault?: string | undefined;
  readonly providerText?: ProviderText | undefined;
}

/** Statuses which mean that the request is at fault. 401 and 403 are about the credential, 404 about the catalogue. */
const invalidStatuses = new Set([400, 413, 422]);
/** Statuses for an unknown thread, which is not a gap of the catalogue. */
const threadStatuses = new Set([400, 404]);
const rateLimitedStatus = 429;
/** Status with which some servers refuse a prompt that is too long. */
const overflowStatus = 500;
const credentialStatuses = new Set([401, 403]);
const quotaStatus = 402;

/**
 * Classifies an unsuccessful answer by its status, its body, and `x-amzn-errortype` if it has one. `statedRetrySeconds`
 * comes from the headers.
 */
export function classifyStatus(
  status: number,
  outerBody: unknown,
  statedRetrySeconds?: number,
  errorType?: string,
): AttemptFailure {
  const body = innerError(outerBody);
  const details = readErrorDetails(body);
  const cause = `status_${status}`;
  const providerCode = providerCodeOf(body);
  const retryDelaySeconds = readRetryDelaySeconds(body);
  const retryAfterSeconds = statedRetrySeconds ?? retryDelaySeconds;
  if (providerCode?.startsWith('thread_') && threadStatuses.has(status))
    return { kind: 'invalid', providerCode, status, cause };
  const other =
    faultOfCode(providerCode) ??
    (invalidStatuses.has(status) ? faultBehindInvalid(body, details.message, errorType) : undefined);
  if (other !== undefined)
    return { status, cause, ...(other.kind === 'rate_limited' && { retryAfterSeconds }), ...other };
  // An account without quota does not get any quota within seconds, whatever the message says.
  const isTimedLimit = status === rateLimitedStatus && retryDelaySeconds !== undefined;
  const hasNoQuota =
    !isTimedLimit && (details.code === 'insufficient_quota' || status === quotaStatus || accountLimit(details.message));
  if (status === rateLimitedStatus && !hasNoQuota) return { kind: 'rate_limited', retryAfterSeconds, status, cause };
  if (invalidStatuses.has(status) || (status === overflowStatus && isContextOverflow(details)))
    return { kind: 'invalid', reason: reasonOf(details), param: paramOf(body), providerCode, status, cause };
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
  const cause = 'error_object';
  const providerCode = providerCodeOf(body);
  const other = faultOfCode(providerCode);
  if (other !== undefined) return { cause, ...other };
  if (accountLimit(details.message)) return { kind: 'failed', hasNoQuota: true, cause };
  if (/rate_?limit|too_many_requests/.test(`${details.code} ${details.type}`)) return { kind: 'rate_limited', cause };
  if (rejectsRequest(details))
    return { kind: 'invalid', reason: reasonOf(details), param: paramOf(body), providerCode, cause };
  return { kind: 'failed', cause };
}

/** Number of bytes of a message that are searched, because a message may be the whole prompt. */
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

const codeShape = /^[a-z][a-z0-9_]{0,63}$/;

/** Returns Anthropic's `error.details.error_code`. */
function providerCodeOf(body: unknown): string | undefined {
  const { error } = outermost(body);
  const details = isJsonObject(error) && isJsonObject(error.details) ? error.details : {};
  const { error_code: code } = details;
  return typeof code === 'string' && codeShape.test(code) ? code : undefined;
}

/** Matches a path such as `messages[0].content`. Any other text might be a provider's prose. */
const paramShape = /^[A-Za-z_]\w{0,63}(\.?\[\d{1,6}\]|\.\w{1,64}){0,8}$/;

function paramOf(body: unknown): string | undefined {
  const outer = outermost(body);
  const error = isJsonObject(outer.error) ? outer.error : outer;
  const { param, message } = error;
  if (typeof param === 'string' && paramShape.test(param)) return param;
  return typeof message === 'string' ? paramInWords.exec(message.slice(0, messageBytesMax))?.[1] : undefined;
}

/** Matches `messages.0.content: …`, which providers without a field for the path write. */
const paramInWords = /^([a-z_]\w{0,63}(?:\.\w{1,64}){0,8}): /;

/**
 * Returns the field about which all failures complain, if the request has this field. A provider may use another name
 * for it.
 */
export function agreedParam(failures: readonly AttemptFailure[], json: JsonText): string | undefined {
  const [param, ...others] = new Set(failures.map((failure) => failure.param));
  return others.length > 0 ? undefined : ownParam(param, json);
}

/** Returns undefined if the request does not have the field. */
export const ownParam = (param: string | undefined, json: JsonText): string | undefined =>
  param === undefined || findMember(json, /^\w+/.exec(param)?.[0] ?? '') === undefined ? undefined : param;

/** Longest wait that is accepted. A wait above a day is a fault of the provider. */
const retryAfterMaxSeconds = 86_400;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Returns the seconds from now until a provider may be called again, rounded up, at least 1. Three spellings are in
 * use. Returns undefined if it sent none, or no valid time.
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
