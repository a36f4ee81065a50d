// Recognizes refusals that providers send with a status which means "the request is invalid", though another cause is
// at fault: the credential, the account, the catalogue, or too many calls. Another provider may answer the same
// request.
import { isJsonObject } from '../../protocol/wire/index.ts';

interface FaultBehindInvalid {
  readonly kind: 'failed' | 'rate_limited';
  readonly refusedCredential?: true;
  readonly hasNoQuota?: true;
}

const refusedCredential: FaultBehindInvalid = { kind: 'failed', refusedCredential: true };
const hasNoQuota: FaultBehindInvalid = { kind: 'failed', hasNoQuota: true };
const failed: FaultBehindInvalid = { kind: 'failed' };
const rateLimited: FaultBehindInvalid = { kind: 'rate_limited' };

/**
 * Anthropic's codes about the gateway's account, whatever the status: from `resources/shared` in its SDK (1.14.0).
 * Codes about a user profile, a version or the body concern the client's request.
 */
const accountCodes: Readonly<Record<string, FaultBehindInvalid>> = {
  contract_spend_limit_reached: hasNoQuota,
  enforced_spend_limit_reached: hasNoQuota,
  ramp_limit_exceeded: rateLimited,
  cmek_key_disabled: refusedCredential,
  cmek_key_network_blocked: refusedCredential,
  cmek_key_unreachable: failed,
  cmek_context_unavailable: failed,
  organization_on_hold: refusedCredential,
  organization_type_not_supported: refusedCredential,
  parent_organization_required: refusedCredential,
  claude_code_key_creator_not_member: refusedCredential,
};

export const faultOfCode = (code: string | undefined): FaultBehindInvalid | undefined =>
  code !== undefined && Object.hasOwn(accountCodes, code) ? accountCodes[code] : undefined;

/** Match the name of the fault, which AWS sends in a header. */
const awsTypes: readonly (readonly [RegExp, FaultBehindInvalid])[] = [
  [
    /^(AccessDenied|ExpiredToken|UnrecognizedClient|InvalidSignature|IncompleteSignature|MissingAuthenticationToken)/,
    refusedCredential,
  ],
  [/^ServiceQuotaExceeded/, hasNoQuota],
  [/^(Throttling|TooManyRequests)/, rateLimited],
];

/** Matches beginnings, in lower case, of providers' messages about an exhausted account, with whatever status. */
const accountLimits =
  /^(your credit balance is too low|you have reached your specified (workspace )?api usage limits|billing hard limit has been reached|you exceeded your current quota|insufficient (balance|credits)|your (team|project|organization|account|workspace)[^.]{0,80}(spending (limit|cap)|available credits|credit limit)|your prepayment credits are depleted)/;

/** True if the message says that a limit of the account is reached. `message` is in lower case. */
export const accountLimit = (message: string): boolean => accountLimits.test(message);

/** Match beginnings, in lower case, of messages that are the only evidence: the rest may quote the request. */
const messages: readonly (readonly [RegExp, FaultBehindInvalid])[] = [
  [accountLimits, hasNoQuota],
  [/^this organization has been disabled/, refusedCredential],
  [/^api key (not valid|expired)/, refusedCredential],
  [/^user location is not supported/, failed],
  [/^the provided model identifier is invalid|^invocation of model id .{1,200} isn.t supported/, failed],
];

/** Returns undefined if the request is at fault, as the status says. `message` is in lower case. */
export function faultBehindInvalid(
  body: unknown,
  message: string,
  errorType: string | undefined,
): FaultBehindInvalid | undefined {
  if (googleReasons(body).some((reason) => /^API_KEY_(INVALID|EXPIRED)/.test(String(reason)))) return refusedCredential;
  const found = (signs: typeof messages, text: string) => signs.find(([sign]) => sign.test(text))?.[1];
  return (errorType === undefined ? undefined : found(awsTypes, errorType)) ?? found(messages, message);
}

const googleReasons = (body: unknown): unknown[] => googleDetails(body).map(({ reason }) => reason);

/** Returns Google's details, a list with more information about an error than its status. */
function googleDetails(body: unknown): readonly Record<string, unknown>[] {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  const error = isJsonObject(first) && isJsonObject(first.error) ? first.error : {};
  return (Array.isArray(error.details) ? error.details : []).filter(isJsonObject);
}

/** Returns Google's retry delay in the body: `{"@type": "…RetryInfo", "retryDelay": "34.07s"}`. */
export function readRetryDelaySeconds(body: unknown): number | undefined {
  const delay = googleDetails(body)
    .map(({ retryDelay }) => retryDelay)
    .find((one) => typeof one === 'string');
  const seconds = Number(/^(\d{1,6}(\.\d+)?)s$/.exec(String(delay))?.[1]);
  return seconds > 0 ? Math.ceil(seconds) : undefined;
}
