// Advises clients for each error, in a sentence or two; status and retry advice are in shared/errors.
import type { ErrorCode, errorFamilies } from '../../../shared/errors/index.ts';

interface ErrorGuide {
  /** The situation in which the gateway gives this answer. */
  readonly cause: string;
  /** The step after which the next call succeeds, and the person who can take it. */
  readonly solution: string;
}

/** A code without its guide does not compile. */
type GuideOf<Family extends object> = { readonly [Code in keyof Family]: ErrorGuide };

/** Errors of every call. */
const gatewayErrors: GuideOf<typeof errorFamilies.gateway> = {
  invalid_request: {
    cause:
      'A body that is no JSON object or over its bounds; a member or header that is missing, malformed, unknown inside `provider`, or in another letter case; or every provider rejected the request.',
    solution:
      'Correct what `message` names; where every provider rejected the request it ends with what one of them said. Where they agree on what they object to, `reason` says it.',
  },
  unknown_model: {
    cause: 'The catalogue has no model with this id, or the workspace or the key may not use it.',
    solution:
      'Take an id from `GET /v1/models`, or `auto`. Operators add models to the gateway file, or to `models` of the workspace or the key.',
  },
  model_not_routable: {
    cause:
      'The model is known, but none of its providers may serve this call: none has a price, `provider` rules them all out, or the operator has disabled those that could (the message names them).',
    solution:
      'Loosen `provider.only`, `ignore`, `order` or `allow_fallbacks`, or take a model that `GET /v1/models` shows as `routable`.',
  },
  invalid_sort: {
    cause: '`provider.sort` is none of `price`, `latency` and `throughput`.',
    solution: 'Send one of the three, or leave it out: the lowest price comes first.',
  },
  feature_unsupported: {
    cause:
      'No provider of the model supports the tools, images, audio, JSON mode or streaming, or what may cost more than its tokens: dearer tiers, tools that it runs itself, searches, other models.',
    solution:
      'Leave it out, or take a model whose `supported_params` and `modalities` have it; `auto` looks for one. The operator allows what costs more: `supported_params.extras` in the gateway file.',
  },
  invalid_response_schema: {
    cause:
      '`response_format.json_schema` has no schema, or one that is invalid, too large, too deep, refers to another document or has an unsafe pattern.',
    solution:
      'Send a JSON Schema (draft 2020-12, 2019-09, 7, 6 or 4) of at most 64 KiB and 32 levels under `response_format.json_schema.schema`.',
  },
  schema_streaming_unsupported: {
    cause: '`stream: true` together with a json_schema response format: an answer is checked whole before it is sent.',
    solution:
      'Leave out `stream`, use the base URL `/openai/v1`, which holds a streamed answer against the schema at its end, or ask for `json_object`.',
  },
  invalid_correlation: {
    cause: 'A trace, span, session or `traceparent` header is malformed, was sent twice or disagrees with another.',
    solution: 'Correct the header that `message` names, or send none: the gateway makes a trace id.',
  },
  UNAUTHORIZED: {
    cause: 'The API key is missing, malformed, unknown, revoked or expired.',
    solution:
      '`message` says which of them it is. Send `Authorization: Bearer sk-gw-…` with nothing after the key (for Messages `x-api-key: sk-gw-…` will do). Operators make a new key.',
  },
  PAYMENT_REQUIRED: {
    cause:
      "The worst case of the call is more than the workspace's credit, its spend limit or, on a plain call, the key's spend limit still covers. Other calls that run hold their part.",
    solution:
      'Set a smaller `max_tokens` (on Responses `max_output_tokens`), or ask the operator for credit or a higher limit: `message` names both amounts.',
  },
  price_cap_exceeded: {
    cause:
      'Every provider that could serve the call is billed by a price above `provider.max_price`, or by a unit without one.',
    solution: 'Send the fields that `message` names, or take a cheaper model.',
  },
  preset_not_found: {
    cause: 'The workspace has no such preset or version, or presets are not enabled for it.',
    solution: 'Correct slug and version. Operators add presets and switch on `features.presets` in the gateway file.',
  },
  idempotency_conflict: {
    cause:
      'The Idempotency-Key was used in the last 24 hours with another body, other correlation headers or another BYOK key, or for an answer of more than 32 MiB, which is not stored.',
    solution: 'Take a new key for a new request; send a retry exactly as the first one.',
  },
  duplicate_span_id: {
    cause: 'Another call of the workspace used this `X-Gw-Span-Id` in the last 30 days.',
    solution:
      'Take a new span id for every call. A retry may keep its own with the same Idempotency-Key, where no provider was called, and after a 429, a 5xx or a broken stream; otherwise it stays used.',
  },
  no_policy_compliant_provider: {
    cause:
      'No provider declares what `zdr`, `data_collection` and `data_residency` ask for, by the request or the workspace. What is not declared is not satisfied.',
    solution: 'Ask for less, take another model, or have the operator declare `data_policy` of the provider.',
  },
  data_policy_loosening_forbidden: {
    cause: 'The request asks for less than the data policy that its workspace enforces.',
    solution: 'Leave the member out: the policy of the workspace applies by itself. A request may only tighten it.',
  },
  structured_output_unsupported: {
    cause: 'No provider that may serve the call supports a json_schema response format.',
    solution: 'Take a model whose `supported_params.json_schema` is true, or loosen `provider`.',
  },
  schema_validation_failed: {
    cause:
      'The model answered, but no answer satisfied the schema: `message` says where the last one fails, by which rule. `detail.attempts` counts the provider calls, which are charged.',
    solution: 'Allow more output tokens where the answer was cut, simplify the schema, or take a stronger model.',
  },
  rate_limited: {
    cause: 'Every eligible provider is at its rate limit, and no slot became free in time.',
    solution: 'Come back after `Retry-After`, or let more providers serve: `message` names the limits and the wait.',
  },
  no_available_provider: {
    cause: 'Every eligible provider failed, or some failed and others were limited.',
    solution:
      'Try again later, unless `x-should-retry` is `false`, or let more providers serve. `GET /v1/generation?id=` shows each attempt, and `gw calls show` what the providers said.',
  },
  RATE_LIMITER_UNAVAILABLE: {
    cause:
      'The store that counts limits and credit did not answer in time. No provider was called and nothing was charged.',
    solution: 'Come back after `Retry-After`. Operators look at the throttling and latency of the tables.',
  },
  provider_not_configured: {
    cause: 'The gateway holds no credential for any provider that could serve the call.',
    solution:
      'Operators set the variable or secret that `auth` of the provider names. Until then take a model of another provider.',
  },
  request_deadline_exceeded: {
    cause:
      "Within 55 seconds of the call's arrival, queueing and fallback included, a JSON answer was not finished or a stream had no output. As an error line: the stream was over its budget.",
    solution:
      'Ask for less output, or take a faster model: `provider.sort: latency` helps. `stream: true` helps where the operator has raised the stream budget above its 55 seconds.',
  },
};

/** Errors of calls whose model is a function alias. */
const functionErrors: GuideOf<typeof errorFamilies.functions> = {
  invalid_function_alias: {
    cause:
      'The model begins with `gw/` but is no function alias, or the Idempotency-Key of a function call is not a UUID.',
    solution:
      'Write `gw/function/<function-id>` or `gw/function/<function-id>@<revision-id>`, and take a UUID as the key.',
  },
  invalid_function_request: {
    cause:
      'The call does not match the input contract: other fixed messages, an input of the wrong form, or a member that the function fixes, `stream` and `tools` included.',
    solution:
      'Send `model` and one user message with the input, at most `user` and `metadata` beside it. `message` names what does not match.',
  },
  function_requires_managed_funding: {
    cause:
      'Functions are paid with workspace credit, and the call brings an `x-byok-key`, or the workspace always uses stored keys of its own.',
    solution: 'Leave the header out. Operators set the connections to `policy: allowed`.',
  },
  api_key_revoked: {
    cause: 'The API key of this function call is revoked or expired.',
    solution: 'Use another key of the workspace. Operators make one.',
  },
  spend_limit_exceeded: {
    cause: 'On a function call: its worst case is more than the spend limit of the key still covers.',
    solution: 'Ask the operator for a higher limit, or use another key: `message` names both amounts.',
  },
  function_not_found: {
    cause: 'The workspace of the key has no function with this id.',
    solution:
      'Correct the id (`message` names the nearest, `GET /v1/models?functions=true` lists all), or use a key of the workspace that has the function.',
  },
  revision_not_available: {
    cause: 'The function has no active revision, or the pinned one does not exist or was never activated.',
    solution: 'Pin an activated revision, or have the operator activate one.',
  },
  function_disabled: {
    cause: 'The function is disabled.',
    solution: 'Operators enable it, or activate a revision, which enables it too.',
  },
  qualification_expired: {
    cause: 'The revision is past its `expires_at`.',
    solution: 'Operators activate a new revision; call without a pin to get the active one.',
  },
  execution_in_progress: {
    cause: 'The first call with this Idempotency-Key is still running.',
    solution: 'Come back after `Retry-After` with the same request: it gets the stored result.',
  },
  execution_disabled: {
    cause: 'The operator has switched off the execution of functions for the whole service.',
    solution: 'Wait for the operator, who sets `service.function_execution: enabled`. Plain models still work.',
  },
  request_too_large: {
    cause: 'The body is over 4 MiB, 256 KiB (function call) or 25 MiB (form; on Lambda 4).',
    solution: 'Send less: shorter messages, smaller images, or links to images in place of their bytes.',
  },
  api_key_rate_limit: {
    cause:
      'The key has made all its requests of a minute, used all its tokens of a minute, or has all its calls in flight.',
    solution:
      'Come back after `Retry-After`, or ask the operator for a higher `rpm`, `tpm` or `concurrency`: `message` names which.',
  },
  execution_capacity: {
    cause: 'As many functions, or calls of any kind, as the workspace or the service may run at once are running.',
    solution:
      'Come back after `Retry-After`, or ask the operator for a higher `function_concurrency` or `concurrency`: `message` names which.',
  },
  execution_failed: {
    cause: 'No model of the revision, fallback models included, gave a valid result.',
    solution:
      'Try again, or look at `GET /v1/generation?id=` with the correlation id; operators look at the models and the schema of the revision.',
  },
  execution_deadline_exceeded: {
    cause: 'The function did not finish within 55 seconds of the arrival of the call.',
    solution: 'Give it less input. Operators choose faster models, fewer steps in a row, or a smaller `max_tokens`.',
  },
};

/** Errors of keys that a client brings. */
const byokErrors: GuideOf<typeof errorFamilies.byok> = {
  byok_provider_required: {
    cause: '`x-byok-key` was sent, and `provider.only` does not name exactly one known provider that serves the model.',
    solution: 'Name the provider that the key is for in `provider.only`.',
  },
  byok_credential_unsupported: {
    cause: 'The provider takes no key from a request header.',
    solution: 'Store the key as a connection, or have the operator set `accepts_byok_header` of the provider.',
  },
  byok_credential_conflict: {
    cause: '`x-byok-key` was sent, and the workspace has a stored connection that always applies.',
    solution: 'Leave the header out, or have the operator set the connection to `policy: allowed`.',
  },
  byok_budget_exceeded: {
    cause: 'The worst case of the call is more than the budget of the stored connection still covers.',
    solution: 'Set a smaller `max_tokens`, or have the operator raise `budget_usd`: `message` names both amounts.',
  },
  byok_not_enabled: {
    cause: '`x-byok-key` was sent in a workspace without the feature.',
    solution: 'Leave the header out. Operators switch on `features.byok` of the workspace.',
  },
  byok_no_eligible_connection: {
    cause:
      'Stored connections must be used and none can serve the call, or the key that made a stored response is missing.',
    solution: 'Take a model of a connected provider, send the key again, or have the operator add a connection.',
  },
  byok_budget_unquotable: {
    cause: 'The stored connection has a budget, but the catalogue has no price for the model there.',
    solution: 'Operators set prices in the gateway file, or take the budget away.',
  },
};

/** Errors of paths and methods, of the management interface, and faults of the gateway itself. */
const addedErrors: GuideOf<typeof errorFamilies.additions> = {
  forbidden: {
    cause: 'On the management interface: who asks is known, and has no role that allows this.',
    solution:
      '`message` names the role that is needed. Owners of all workspaces give roles in `access` of the gateway file.',
  },
  precondition_failed: {
    cause:
      'On the management interface: another writer changed the configuration after it was read, or `If-Match` does not say which one was read.',
    solution: 'Read it again, repeat the change on what it holds now, and send its `ETag` as `If-Match`.',
  },
  not_found: {
    cause:
      'The gateway has no such path, the request went around the distribution, the workspace has no call or stored response with this id, or no provider counts tokens or compacts.',
    solution:
      'Set the base URL of the client to one of the gateway, ending in `/v1` or `/openai/v1`: `message` names the paths. The record of a call is written when it has ended.',
  },
  method_not_allowed: {
    cause: 'The path is right and the method is not.',
    solution: 'The header `Allow` names the methods of the path.',
  },
  internal_error: {
    cause: 'The gateway itself failed.',
    solution: 'Try again. Operators find the cause in the log under the correlation id.',
  },
};

/** Cause and solution of every code. */
export const errorGuide: Readonly<Record<ErrorCode, ErrorGuide>> = {
  ...gatewayErrors,
  ...functionErrors,
  ...byokErrors,
  ...addedErrors,
};
