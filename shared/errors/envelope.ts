// Writes all error answers, in all of their formats, with their retry headers.
import { brand, headerNames } from '../foundation/constants/index.ts';
import type { GatewayError } from './gateway-error.ts';
import { vendorWords } from './vendor-words.ts';

/** Bounds of Retry-After in seconds, because clients sleep as long as it requires. */
const retryAfterMinSeconds = 1;
const retryAfterMaxSeconds = 60;
const retryAfterDefaultSeconds = 1;

interface Envelope {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/**
 * Format of an error answer. `openai`: the fields from which OpenAI's SDKs and the frameworks built on them read
 * message and code; `messages`: the format of Anthropic's Messages; `google`: of Google's interfaces; `aws`: of AWS's
 * services.
 */
export type ErrorFormat = 'gateway' | 'openai' | 'messages' | 'google' | 'aws';

/** Parses the header X-Gw-Error-Format. Any value but `openai` counts as absent. */
export const readErrorFormat = (headers: Readonly<Record<string, readonly string[] | undefined>>): ErrorFormat =>
  headers[headerNames.errorFormat]?.[0] === 'openai' ? 'openai' : 'gateway';

/** Shapes an error as `{error, message, correlation_id, reason?, detail?}` with its status and retry headers. */
export function toEnvelope(error: GatewayError, correlationId: string, format: ErrorFormat = 'gateway'): Envelope {
  const { message, entry } = error;
  // The reason is set only on 400s, the detail only on schema_validation_failed.
  const extras = {
    ...(error.reason === undefined ? {} : { reason: error.reason }),
    ...(error.attempts === undefined ? {} : { detail: { attempts: error.attempts } }),
  };
  const ids = { correlation_id: correlationId };
  const bodies = {
    gateway: () => ({ error: error.code, message, ...ids, ...extras }),
    openai: () => ({ error: openAiError(error, extras), message, ...ids }),
    messages: () => ({ type: 'error', error: messagesError(error), error_code: error.code, ...ids, ...extras }),
    google: () => ({ error: googleError(error, { ...ids, ...extras }) }),
    aws: () => ({ message, code: error.code, ...ids, ...extras }),
  };
  const formHeaders = format === 'aws' ? { [headerNames.amznErrorType]: vendorWords[entry.status].aws } : {};
  return {
    status: entry.status,
    headers: { 'content-type': 'application/json', ...formHeaders, ...retryHeaders(error) },
    body: JSON.stringify(bodies[format]()),
  };
}

function openAiError(error: GatewayError, extras: object): object {
  // This reason is the only one that clients branch on as if it were a code, because they shorten the conversation.
  const code = error.reason === 'context_length_exceeded' ? error.reason : error.code;
  return { message: error.message, type: openAiType(error.entry.status), code, param: error.param ?? null, ...extras };
}

const openAiTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  429: 'rate_limit_error',
};

const serverErrorMin = 500;

const openAiType = (status: number): string =>
  openAiTypes[status] ?? (status >= serverErrorMin ? 'api_error' : 'invalid_request_error');

const messagesTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
};

function messagesError(error: GatewayError): object {
  const { code, message } = error;
  const { status } = error.entry;
  const type = messagesTypes[status] ?? (status >= serverErrorMin ? 'api_error' : 'invalid_request_error');
  return { type, message, details: { error_code: providerCodeOf(error) ?? code } };
}

/**
 * Returns the code of Anthropic's error, on which its SDK branches. After `thread_unsupported_request` the SDK
 * continues without a thread.
 */
const providerCodeOf = ({ providerCode, param }: GatewayError): string | undefined =>
  providerCode ?? (param === 'thread' ? 'thread_unsupported_request' : undefined);

/**
 * Writes the error as Google's clients read it: the code in an ErrorInfo, the field at fault, and the wait before a
 * retry.
 */
export function googleError(error: GatewayError, metadata: Readonly<Record<string, unknown>>): object {
  const { code, message, param, entry } = error;
  const written = Object.entries(metadata).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const waitSeconds = waitSecondsOf(error);
  const details = [
    googleDetail('ErrorInfo', { reason: code, domain: brand, metadata: Object.fromEntries(written) }),
    ...(param === undefined
      ? []
      : [googleDetail('BadRequest', { fieldViolations: [{ field: param, description: message }] })]),
    ...(waitSeconds === undefined ? [] : [googleDetail('RetryInfo', { retryDelay: `${waitSeconds}s` })]),
  ];
  return { code: entry.status, message, status: vendorWords[entry.status].google, details };
}

const googleDetail = (type: string, members: object): object => ({
  '@type': `type.googleapis.com/google.rpc.${type}`,
  ...members,
});

/**
 * Returns the actual wait in seconds, however long. Undefined if no later try can succeed, or if the code
 * specifies none.
 */
function waitSecondsOf({ entry, isFinal, retryAfterSeconds }: GatewayError): number | undefined {
  if (isFinal || entry.retry === 'never' || entry.retry === 'none') return undefined;
  return Math.max(Math.ceil(retryAfterSeconds ?? retryAfterDefaultSeconds), retryAfterMinSeconds);
}

function retryHeaders(error: GatewayError): Record<string, string> {
  const { entry, isFinal } = error;
  const trueWaitSeconds = waitSecondsOf(error);
  if (trueWaitSeconds === undefined)
    return isFinal || entry.retry === 'never' ? { [headerNames.shouldRetry]: 'false' } : {};
  const seconds = Math.min(trueWaitSeconds, retryAfterMaxSeconds);
  const headers: Record<string, string> = { [headerNames.retryAfter]: String(seconds) };
  if (entry.retry === 'soon') headers[headerNames.shouldRetry] = 'true';
  else if (trueWaitSeconds > retryAfterMaxSeconds) headers[headerNames.shouldRetry] = 'false';
  return headers;
}

/** Returns a sentence for the message of a failure whose attempts are on record under the id of the request. */
export const whereToLook = (correlationId: string): string =>
  `GET /v1/generation?id=${correlationId} shows each attempt, \`gw calls show\` also what the providers said.`;
