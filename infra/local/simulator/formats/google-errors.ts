// Errors as Google writes them. The codes are those of the simulator's model names; Google itself has only statuses.

const statuses: Readonly<Record<number, readonly [status: string, message: string]>> = {
  400: ['INVALID_ARGUMENT', 'Request contains an invalid argument.'],
  401: ['UNAUTHENTICATED', 'Request had invalid authentication credentials.'],
  403: ['PERMISSION_DENIED', 'The caller does not have permission'],
  404: ['NOT_FOUND', 'models/unknown is not found for API version v1beta, or is not supported for generateContent.'],
  409: ['ABORTED', 'The operation was aborted.'],
  429: ['RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).'],
  503: ['UNAVAILABLE', 'The model is overloaded. Please try again later.'],
  504: ['DEADLINE_EXCEEDED', 'Deadline expired before operation could complete.'],
};

/** Message and usual status by code. */
const named: Readonly<Record<string, readonly [status: number, message: string]>> = {
  api_key_invalid: [400, 'API key not valid. Please pass a valid API key.'],
  context_length_exceeded: [400, 'The input token count (9001) exceeds the maximum number of tokens allowed (8192).'],
  max_tokens_exceeded: [
    400,
    'Unable to submit request because it has a maxOutputTokens value of 99999 but the supported range is from 1 (inclusive) to 8193 (exclusive).',
  ],
  content_policy_violation: [400, 'The prompt was blocked because it violates the usage policies.'],
  unsupported_parameter: [400, 'Invalid JSON payload received. Unknown name "logit_bias": Cannot find field.'],
  unsupported_value: [400, 'Penalty is not enabled for models/unknown'],
  invalid_function_parameters: [
    400,
    '* GenerateContentRequest.tools[0].function_declarations[0].parameters.properties: should be non-empty for OBJECT type',
  ],
  invalid_image_url: [
    400,
    'Unable to process input image. Please retry or report in https://developers.generativeai.google/',
  ],
  image_too_large: [400, 'Request payload size exceeds the limit: 20971520 bytes.'],
  invalid_image_format: [400, 'Unsupported MIME type: image/tiff'],
  image_download_failed: [400, 'Cannot fetch content from the provided URL.'],
  insufficient_quota: [429, 'You exceeded your current quota, please check your plan and billing details.'],
  rate_limit_exceeded: [429, 'Resource has been exhausted (e.g. check quota).'],
};

const invalidKeyDetails = [
  {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: 'API_KEY_INVALID',
    domain: 'googleapis.com',
    metadata: { service: 'generativelanguage.googleapis.com' },
  },
];

export function googleError(status: number, code = '', message?: string) {
  const [word, text] = statuses[status] ?? (status < 500 ? ['FAILED_PRECONDITION', 'Precondition failed.'] : internal);
  const details = code === 'api_key_invalid' ? { details: invalidKeyDetails } : {};
  return { error: { code: status, message: message ?? named[code]?.[1] ?? text, status: word, ...details } };
}

const internal = ['INTERNAL', 'An internal error has occurred. Please retry.'] as const;

/** The error within a stream, whose 200 has left: its code says the status. */
export const googleStreamError = (code = '') => googleError(named[code]?.[0] ?? 500, code);
