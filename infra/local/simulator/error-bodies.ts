// Builds error bodies in OpenAI's format, by status and by code, and the error bodies of providers that use OpenAI's
// formats with error bodies of their own.

interface OpenAiError {
  readonly type: string;
  readonly code: string | null;
  readonly message: string;
  readonly param?: string;
}

const invalid = (code: string, message: string, param = 'messages'): OpenAiError => ({
  type: 'invalid_request_error',
  code,
  message,
  param,
});

const byStatus: Readonly<Record<number, OpenAiError>> = {
  400: invalid('invalid_value', "Invalid value: 'robot'. Supported values are: 'system', 'assistant', 'user', 'tool'."),
  401: { type: 'invalid_request_error', code: 'invalid_api_key', message: 'Incorrect API key provided: sk-sim…0000.' },
  402: { type: 'billing_error', code: 'insufficient_funds', message: 'Your account has no credit left.' },
  403: {
    type: 'permission_error',
    code: 'unsupported_country',
    message: 'Country, region, or territory not supported',
  },
  404: invalid('model_not_found', 'The model does not exist or you do not have access to it.', 'model'),
  408: { type: 'timeout_error', code: 'request_timeout', message: 'The request took too long to arrive.' },
  409: { type: 'conflict_error', code: 'conflict', message: 'The resource was updated by another request.' },
  413: { type: 'invalid_request_error', code: 'request_too_large', message: 'Request body is too large.' },
  422: invalid('unprocessable_entity', 'The request was understood but could not be followed.'),
  429: { type: 'requests', code: 'rate_limit_exceeded', message: 'Rate limit reached for requests per min (RPM).' },
  503: { type: 'server_error', code: 'service_unavailable', message: 'That model is currently overloaded.' },
  529: { type: 'overloaded_error', code: null, message: 'Overloaded' },
};

const fault: OpenAiError = {
  type: 'server_error',
  code: 'server_error',
  message: 'The server had an error while processing your request. Sorry about that!',
};

const errorsWithCode: readonly OpenAiError[] = [
  invalid(
    'context_length_exceeded',
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
  ),
  invalid('max_tokens_exceeded', 'max_tokens is too large: 99999. This model supports at most 4096.', 'max_tokens'),
  invalid('content_policy_violation', 'Your request was rejected as a result of our safety system.'),
  invalid('invalid_prompt', 'Invalid prompt: your prompt was flagged as potentially violating our usage policy.'),
  invalid(
    'unsupported_parameter',
    "Unsupported parameter: 'logit_bias' is not supported with this model.",
    'logit_bias',
  ),
  invalid('unsupported_value', "Unsupported value: 'temperature' does not support 0.2 with this model.", 'temperature'),
  invalid(
    'invalid_function_parameters',
    'Invalid schema for function: it is not an object.',
    'tools[0].function.parameters',
  ),
  invalid('invalid_image_url', 'Invalid image URL. Only http, https and data URLs are supported.', 'url'),
  invalid('image_too_large', 'The image is larger than 20 MB.', 'url'),
  invalid('invalid_image_format', 'You uploaded an unsupported image. Please use png, jpeg, gif or webp.', 'url'),
  invalid('image_download_failed', 'Failed to download image from https://images.example.com/cat.png.', 'url'),
  { type: 'insufficient_quota', code: 'insufficient_quota', message: 'You exceeded your current quota.' },
  { type: 'tokens', code: 'rate_limit_exceeded', message: 'Rate limit reached for tokens per min (TPM).' },
];

const otherForms: Readonly<Record<string, unknown>> = {
  flat: { error: 'model runner has unexpectedly stopped' },
  gemini: [{ error: { code: 400, message: 'Request contains an invalid argument.', status: 'INVALID_ARGUMENT' } }],
  vllm: {
    object: 'error',
    message: "This model's maximum context length is 8192 tokens. However, you requested 9001 tokens.",
    type: 'BadRequestError',
    param: null,
    code: 400,
  },
};

/**
 * Returns the body for a status; `code` chooses another OpenAI code, a code of its own, or the format of another
 * provider.
 */
export function errorBody(status: number, code?: string, message?: string): unknown {
  if (code !== undefined && code in otherForms) return otherForms[code];
  const basis = errorsWithCode.find((entry) => entry.code === code) ?? byStatus[status] ?? fault;
  if (message !== undefined) return { error: { message, type: basis.type, param: null, code: code ?? null } };
  const { type, param = null } = basis;
  return { error: { message: basis.message, type, param, code: code ?? basis.code } };
}
