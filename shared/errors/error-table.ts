// Lists every code that a client can get, in one table. No file outside this folder contains a status number. `retry`
// becomes headers, because SDKs retry 409, 429 and 5xx by themselves unless a header forbids it.
//
//   none   no header
//   never  x-should-retry: false
//   soon   x-should-retry: true and Retry-After
//   wait   Retry-After, and x-should-retry: false beyond 60 s
type RetryAdvice = 'none' | 'never' | 'soon' | 'wait';

export interface ErrorEntry<Status extends number = number> {
  readonly status: Status;
  readonly message: string;
  readonly retry: RetryAdvice;
  /** Path of the request's field at fault, such as `provider.sort`, if the code alone determines it. */
  readonly param?: string;
}

type EntryOf<Retry extends RetryAdvice, Status extends number> = ErrorEntry<Status> & { readonly retry: Retry };

const entry = <Status extends number>(status: Status, message: string, param?: string): EntryOf<'none', Status> => ({
  status,
  message,
  retry: 'none',
  ...(param === undefined ? {} : { param }),
});

const retried = <Retry extends Exclude<RetryAdvice, 'none'>, Status extends number>(
  status: Status,
  message: string,
  retry: Retry,
): EntryOf<Retry, Status> => ({ status, message, retry });

/** Codes of plain calls. */
const gateway = {
  invalid_request: entry(400, 'The request is not valid.'),
  unknown_model: entry(400, 'No model with this id is in the catalogue; GET /v1/models lists those that are.'),
  model_not_routable: entry(400, 'The model has no provider that can be called now.', 'model'),
  invalid_sort: entry(400, 'provider.sort must be price, latency or throughput.', 'provider.sort'),
  feature_unsupported: entry(400, 'No provider of the model supports a feature that the request asks for.'),
  invalid_response_schema: entry(
    400,
    'response_format.json_schema is malformed.',
    'response_format.json_schema.schema',
  ),
  schema_streaming_unsupported: entry(
    400,
    'A json_schema response format cannot be combined with stream: the answer is checked whole.',
    'stream',
  ),
  invalid_correlation: entry(400, 'A session, span or trace header is malformed or conflicts with another.'),
  // Some coding agents retry after any other status for minutes.
  UNAUTHORIZED: retried(401, 'The API key is missing, malformed, unknown, revoked or expired.', 'never'),
  PAYMENT_REQUIRED: entry(402, 'No credit is available, or a spend limit is reached.'),
  price_cap_exceeded: entry(402, 'No provider is available under provider.max_price.', 'provider.max_price'),
  preset_not_found: entry(404, 'The workspace has no such preset or version.', 'preset'),
  idempotency_conflict: retried(409, 'The Idempotency-Key was used with other inputs.', 'never'),
  duplicate_span_id: retried(409, 'The span id is already used in the workspace.', 'never'),
  no_policy_compliant_provider: entry(422, 'No provider satisfies the data policy.'),
  data_policy_loosening_forbidden: entry(422, 'The request loosens a data policy that the workspace enforces.'),
  structured_output_unsupported: entry(422, 'No selected provider supports json_schema.', 'response_format'),
  // A client that retries would pay for as many answers again.
  schema_validation_failed: retried(422, 'No output of the model satisfied the schema.', 'never'),
  rate_limited: retried(429, 'All eligible providers are rate limited.', 'wait'),
  no_available_provider: entry(502, 'All eligible providers failed.'),
  RATE_LIMITER_UNAVAILABLE: retried(
    503,
    'Admission is temporarily unavailable: the store of limits and credit does not answer in time.',
    'wait',
  ),
  provider_not_configured: retried(
    503,
    'The gateway holds no credential for any provider that could serve this request.',
    'never',
  ),
  request_deadline_exceeded: retried(504, 'The request was not finished within its 55-second budget.', 'never'),
} as const;

/** Codes of function calls; idempotency_conflict is listed above with the same status. */
const functions = {
  invalid_function_alias: entry(
    400,
    'The model is not of the form gw/function/<id> or gw/function/<id>@<revision>, or the Idempotency-Key is not a UUID.',
  ),
  invalid_function_request: entry(400, 'The request does not match the input contract of the function.'),
  function_requires_managed_funding: entry(400, 'Functions use workspace credits; a BYOK key cannot pay for them.'),
  api_key_revoked: retried(401, 'The API key is revoked or expired.', 'never'),
  spend_limit_exceeded: entry(402, 'The call could exceed the spend limit of the key.'),
  function_not_found: entry(404, 'The workspace has no such function.', 'model'),
  revision_not_available: entry(
    404,
    'The function has no active revision, or the pinned one was never activated.',
    'model',
  ),
  function_disabled: retried(409, 'The function is disabled.', 'never'),
  qualification_expired: retried(409, 'The requested revision has expired.', 'never'),
  execution_in_progress: retried(409, 'The original call with this Idempotency-Key is still running.', 'soon'),
  execution_disabled: retried(409, 'Function execution is temporarily off.', 'never'),
  request_too_large: entry(
    413,
    'The request body is too large: at most 256 KiB for a function, 25 MiB for a form, 4 MiB otherwise.',
  ),
  api_key_rate_limit: retried(429, 'The requests-per-minute limit of the key is reached.', 'wait'),
  execution_capacity: retried(429, 'As many functions as may run at once are running.', 'wait'),
  execution_failed: entry(502, 'The function produced no valid result.'),
  execution_deadline_exceeded: retried(504, 'The function did not finish within 55 seconds.', 'never'),
} as const;

/** Codes of calls with a client's own provider key. */
const byok = {
  byok_provider_required: entry(
    400,
    'x-byok-key needs provider.only naming exactly one supported provider.',
    'provider.only',
  ),
  byok_credential_unsupported: entry(400, 'The provider does not accept a per-request key header.'),
  byok_credential_conflict: entry(400, 'A per-request key was sent while a stored BYOK policy applies.'),
  byok_budget_exceeded: entry(402, 'The request would exceed a BYOK budget.'),
  byok_not_enabled: entry(403, 'BYOK is not enabled for the workspace.'),
  byok_no_eligible_connection: entry(422, 'No authorised stored connection can serve the request.'),
  byok_budget_unquotable: entry(422, 'A BYOK budget applies but the request cannot be priced.'),
} as const;

/** Codes of any path, and of the management interface alone. */
const additions = {
  forbidden: entry(403, 'The role of the operator does not allow this.'),
  precondition_failed: entry(
    412,
    'What should be replaced has changed since it was read, or If-Match does not say what was read.',
  ),
  not_found: entry(404, 'No such path.'),
  method_not_allowed: entry(405, 'This path does not take this method.'),
  internal_error: entry(500, 'The gateway failed. Its log has the cause under the correlation id.'),
} as const;

export const errorCatalogue = { ...gateway, ...functions, ...byok, ...additions } as const;
export type ErrorCode = keyof typeof errorCatalogue;
export type ErrorStatus = (typeof errorCatalogue)[ErrorCode]['status'];

/** The tables by kind of call, so that a test can compare row by row. */
export const errorFamilies = { gateway, functions, byok, additions } as const;

/** The status of an answer that is not an error. */
export const okStatus = 200;
