// Spec 7.2 and 7.3: errors of calls whose model is a function alias, and of keys that a client brings.
import type { errorFamilies } from '../../../shared/errors/index.ts';
import type { GuideOf } from './guide.ts';

export const functionErrors: GuideOf<typeof errorFamilies.functions> = {
  invalid_function_alias: {
    cause:
      'The model begins with `gw/` but is no function alias, or the Idempotency-Key of a function call is not a UUID.',
    cure: 'Write `gw/function/<function-id>` or `gw/function/<function-id>@<revision-id>`, and take a UUID as the key.',
  },
  invalid_function_request: {
    cause:
      'The call does not match the input contract: other fixed messages, an input of the wrong form, or a member that the function fixes, `stream` and `tools` included.',
    cure: 'Send `model` and one user message with the input, at most `user` and `metadata` beside it. `message` names what does not match.',
  },
  function_requires_managed_funding: {
    cause:
      'Functions are paid with workspace credit, and the call brings an `x-byok-key`, or the workspace always uses stored keys of its own.',
    cure: 'Leave the header out. Operators set the connections to `policy: allowed`.',
  },
  api_key_revoked: {
    cause: 'The API key of this function call is revoked.',
    cure: 'Use another key of the workspace. Operators make one.',
  },
  spend_limit_exceeded: {
    cause: 'The worst case of the call is more than the spend limit of the key still covers.',
    cure: 'Ask the operator for a higher limit, or use another key: `message` names both amounts.',
  },
  function_not_found: {
    cause: 'The workspace of the key has no function with this id.',
    cure: 'Mend the id, or use a key of the workspace that has the function.',
  },
  revision_not_available: {
    cause: 'The function has no active revision, or the pinned one does not exist or was never activated.',
    cure: 'Pin an activated revision, or have the operator activate one.',
  },
  function_disabled: {
    cause: 'The function is disabled.',
    cure: 'Operators enable it, or activate a revision, which enables it too.',
  },
  qualification_expired: {
    cause: 'The revision is past its `expires_at`.',
    cure: 'Operators activate a new revision; call without a pin to get the active one.',
  },
  execution_in_progress: {
    cause: 'The first call with this Idempotency-Key is still running.',
    cure: 'Come back after `Retry-After` with the same request: it gets the stored result.',
  },
  execution_disabled: {
    cause: 'The operator has switched off the execution of functions for the whole service.',
    cure: 'Wait for the operator, who sets `service.function_execution: enabled`. Plain models still work.',
  },
  request_too_large: {
    cause: 'The body is over 256 KiB on a function call, or over 4 MiB on any other.',
    cure: 'Send less: shorter messages, smaller images, or links to images in place of their bytes.',
  },
  api_key_rate_limit: {
    cause: 'The key has made all the requests that it may make in a minute.',
    cure: 'Come back after `Retry-After`, or ask the operator for a higher `rpm`.',
  },
  execution_capacity: {
    cause: 'As many functions as the workspace, or the service, may run at once are running.',
    cure: 'Come back after `Retry-After`, or ask the operator for a higher `function_concurrency`.',
  },
  execution_failed: {
    cause: 'No model of the revision, fallback models included, gave a valid result.',
    cure: 'Try again, or have the operator look at the log under the correlation id, and at the models and the schema of the revision.',
  },
  execution_deadline_exceeded: {
    cause: 'The function did not finish within 55 seconds of the arrival of the call.',
    cure: 'Give it less input. Operators choose faster models, fewer steps in a row, or a smaller `max_tokens`.',
  },
};

export const byokErrors: GuideOf<typeof errorFamilies.byok> = {
  byok_provider_required: {
    cause: '`x-byok-key` was sent, and `provider.only` does not name exactly one known provider that serves the model.',
    cure: 'Name the provider that the key is for in `provider.only`.',
  },
  byok_credential_unsupported: {
    cause: 'The provider takes no key from a request header.',
    cure: 'Store the key as a connection, or have the operator set `accepts_byok_header` of the provider.',
  },
  byok_credential_conflict: {
    cause: '`x-byok-key` was sent, and the workspace has a stored connection that always applies.',
    cure: 'Leave the header out, or have the operator set the connection to `policy: allowed`.',
  },
  byok_budget_exceeded: {
    cause: 'The worst case of the call is more than the budget of the stored connection still covers.',
    cure: 'Set a smaller `max_tokens`, or have the operator raise `budget_usd`: `message` names both amounts.',
  },
  byok_not_enabled: {
    cause: '`x-byok-key` was sent in a workspace without the feature.',
    cure: 'Leave the header out. Operators switch on `features.byok` of the workspace.',
  },
  byok_no_eligible_connection: {
    cause: 'Stored connections must be used, and none of them can serve this model with these features.',
    cure: 'Take a model of a connected provider, or have the operator add a connection.',
  },
  byok_budget_unquotable: {
    cause: 'The stored connection has a budget, but the catalogue has no price for the model there.',
    cure: 'Operators set prices in the gateway file, or take the budget away.',
  },
};

export const addedErrors: GuideOf<typeof errorFamilies.additions> = {
  not_found: {
    cause: 'The path is neither `/v1/chat/completions` nor `/v1/models`, or the request went around the distribution.',
    cure: 'Set the base URL of the client to the one of the gateway, ending in `/v1`.',
  },
  method_not_allowed: {
    cause: 'The path is right and the method is not.',
    cure: 'The header `Allow` names the methods of the path.',
  },
  internal_error: {
    cause: 'The gateway itself failed.',
    cure: 'Try again. Operators find the cause in the log under the correlation id.',
  },
};
