// Writes errors as Anthropic does. The codes come from the simulator's model names; Anthropic itself has only types.

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

const messages: Readonly<Record<string, string>> = {
  authentication_error: 'invalid x-api-key',
  billing_error: 'Your credit balance is too low to access the Anthropic API.',
  permission_error: 'Your API key does not have permission to use the specified resource.',
  not_found_error: 'model: claude-unknown',
  request_too_large: 'Request exceeds the maximum size',
  rate_limit_error: 'This request would exceed the rate limit for your organization of 50 requests per minute.',
  timeout_error: 'Request timed out',
  overloaded_error: 'Overloaded',
  invalid_request_error: "messages.0.role: Input should be 'user' or 'assistant'",
  api_error: 'Internal server error',
};

/** Type and message by code. */
const errorsByCode: Readonly<Record<string, readonly [type: string, message: string]>> = {
  context_length_exceeded: ['invalid_request_error', 'prompt is too long: 9001 tokens > 8192 maximum'],
  max_tokens_exceeded: [
    'invalid_request_error',
    'max_tokens: 99999 > 4096, which is the maximum allowed number of output tokens for claude-unknown',
  ],
  content_policy_violation: ['invalid_request_error', 'Output blocked by content filtering policy'],
  unsupported_parameter: ['invalid_request_error', 'logit_bias: Extra inputs are not permitted'],
  unsupported_value: ['invalid_request_error', '`temperature` may only be set to 1 when thinking is enabled.'],
  invalid_function_parameters: [
    'invalid_request_error',
    'tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12',
  ],
  invalid_image_url: [
    'invalid_request_error',
    'messages.0.content.1.image.source.base64.data: Could not process image',
  ],
  image_too_large: [
    'invalid_request_error',
    'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes',
  ],
  invalid_image_format: [
    'invalid_request_error',
    "messages.0.content.1.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
  ],
  image_download_failed: ['invalid_request_error', 'Unable to download the file. Please verify the URL and try again.'],
  insufficient_quota: [
    'invalid_request_error',
    'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
  ],
  rate_limit_exceeded: ['rate_limit_error', messages.rate_limit_error ?? ''],
};

/** Returns an error. `code` chooses another message of that status, or another type if it is a type of Anthropic. */
export function messagesError(status: number, code = '', message?: string) {
  const byStatus = types[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  // The details name the fault of a thread.
  const details = code.startsWith('thread_') ? { details: { error_code: code } } : {};
  const [type, text] =
    errorsByCode[code] ?? (code in messages ? [code, messages[code]] : [byStatus, messages[byStatus]]);
  return { type: 'error', error: { type, message: message ?? text, ...details }, request_id: 'req_simulator' };
}
