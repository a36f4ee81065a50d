// Spec 7.1: errors of every call.
import type { errorFamilies } from '../../../shared/errors/index.ts';
import type { GuideOf } from './guide.ts';

export const gatewayErrors: GuideOf<typeof errorFamilies.gateway> = {
  invalid_request: {
    cause:
      'The body is no JSON object, `model` or `messages` is missing, a member or header is malformed, `provider.only` names no known provider, or every provider rejected the request.',
    cure: 'Mend what `message` names. Where providers agree on what they object to, `reason` says it.',
  },
  unknown_model: {
    cause: 'The catalogue has no model with this id, or the workspace may not use it.',
    cure: 'Take an id from `GET /v1/models`, or `auto`. Operators add models to the gateway file, or to `models` of the workspace.',
  },
  model_not_routable: {
    cause:
      'The model is known, but none of its providers may serve this call: none has a price, or `provider` rules them all out.',
    cure: 'Loosen `provider.only`, `ignore`, `order` or `allow_fallbacks`, or take a model that `GET /v1/models` shows as `routable`.',
  },
  invalid_sort: {
    cause: '`provider.sort` is none of `price`, `latency` and `throughput`.',
    cure: 'Send one of the three, or leave it out: the lowest price comes first.',
  },
  feature_unsupported: {
    cause:
      'No provider of the model that may serve the call supports its tools, images, audio, JSON mode or streaming.',
    cure: 'Leave the feature out, or take a model whose `supported_params` and `modalities` have it; `auto` looks for one by itself.',
  },
  invalid_response_schema: {
    cause:
      '`response_format.json_schema` has no schema, or one that is invalid, too large, too deep, refers to another document or has an unsafe pattern.',
    cure: 'Send a JSON Schema (draft 2020-12 or 7) of at most 64 KiB and 32 levels under `response_format.json_schema.schema`.',
  },
  schema_streaming_unsupported: {
    cause: '`stream: true` together with a json_schema response format: an answer is checked whole before it is sent.',
    cure: 'Leave out `stream`, or ask for the response format `json_object`.',
  },
  invalid_correlation: {
    cause: 'A trace, span, session or `traceparent` header is malformed, was sent twice or disagrees with another.',
    cure: 'Mend the header that `message` names, or send none: the gateway makes a trace id.',
  },
  UNAUTHORIZED: {
    cause: 'The API key is missing, malformed, unknown or revoked.',
    cure: 'Send `Authorization: Bearer sk-gw-…` with nothing after the key. Operators make a new key.',
  },
  PAYMENT_REQUIRED: {
    cause:
      'The worst case of the call is more than the credit of the workspace, or a spend limit, still covers. Other calls that run hold their part.',
    cure: 'Set a smaller `max_tokens`, or ask the operator for credit or a higher limit: `message` names both amounts.',
  },
  price_cap_exceeded: {
    cause: 'Every provider that could serve the call costs more than `provider.max_price`.',
    cure: 'Raise the cap, or take a cheaper model: prices stand in `GET /v1/models`.',
  },
  preset_not_found: {
    cause: 'The workspace has no such preset or version, or presets are not enabled for it.',
    cure: 'Mend slug and version. Operators add presets and switch on `features.presets` in the gateway file.',
  },
  idempotency_conflict: {
    cause:
      'The Idempotency-Key was used in the last 24 hours with another body, other correlation headers or another BYOK key.',
    cure: 'Take a new key for a new request; send a retry exactly as the first one.',
  },
  duplicate_span_id: {
    cause: 'Another call of the workspace used this `X-Gw-Span-Id` in the last 30 days.',
    cure: 'Take a new span id for every call. A retry of a failed call, or one with the same Idempotency-Key, may keep its own.',
  },
  no_policy_compliant_provider: {
    cause:
      'No provider declares what `zdr`, `data_collection` and `data_residency` ask for, by the request or the workspace. What is not declared is not satisfied.',
    cure: 'Ask for less, take another model, or have the operator declare `data_policy` of the provider.',
  },
  data_policy_loosening_forbidden: {
    cause: 'The request asks for less than the data policy that its workspace enforces.',
    cure: 'Leave the member out: the policy of the workspace applies by itself. A request may only tighten it.',
  },
  structured_output_unsupported: {
    cause: 'No provider that may serve the call supports a json_schema response format.',
    cure: 'Take a model whose `supported_params.json_schema` is true, or loosen `provider`.',
  },
  schema_validation_failed: {
    cause:
      'The model answered, but no answer satisfied the schema. `detail.attempts` counts the provider calls, which are charged.',
    cure: 'Allow more output tokens where the answer was cut, simplify the schema, or take a stronger model.',
  },
  rate_limited: {
    cause: 'Every eligible provider is at its rate limit, and no slot became free in time.',
    cure: 'Come back after `Retry-After`, or let more providers serve.',
  },
  no_available_provider: {
    cause: 'Every eligible provider failed, or some failed and others were limited.',
    cure: 'Try again a little later, or let more providers serve. The log of the gateway has each cause under the correlation id.',
  },
  RATE_LIMITER_UNAVAILABLE: {
    cause:
      'The store that counts limits and credit did not answer in time. No provider was called and nothing was charged.',
    cure: 'Come back after `Retry-After`. Operators look at the throttling and latency of the tables.',
  },
  provider_not_configured: {
    cause: 'The gateway holds no credential for any provider that could serve the call.',
    cure: 'Operators set the variable or secret that `auth` of the provider names. Until then take a model of another provider.',
  },
  request_deadline_exceeded: {
    cause: 'The call was not finished within 55 seconds of its arrival, queueing and fallback included.',
    cure: 'Ask for less output, stream it, or take a faster model: `provider.sort: latency` helps.',
  },
};
