// Errors as Amazon Bedrock writes them. The codes are those of the simulator's model names, or Bedrock's own types.

const types: Readonly<Record<number, readonly [type: string, message: string]>> = {
  400: ['ValidationException', 'The provided request is not valid.'],
  401: ['UnauthorizedException', 'The request is not authorized.'],
  403: ['AccessDeniedException', "You don't have access to the model with the specified model ID."],
  404: ['ResourceNotFoundException', 'Could not resolve the foundation model from the provided model identifier.'],
  408: ['ModelTimeoutException', 'Model has timed out in processing the request. Try your request again.'],
  424: ['ModelErrorException', 'The model returned an error while processing the request.'],
  429: ['ThrottlingException', 'Too many requests, please wait before trying again.'],
  503: ['ServiceUnavailableException', 'Bedrock is unable to process your request.'],
};

/** Type and message by code. */
const named: Readonly<Record<string, readonly [type: string, message: string]>> = {
  UnrecognizedClientException: [
    'UnrecognizedClientException',
    'The security token included in the request is invalid.',
  ],
  context_length_exceeded: ['ValidationException', 'Input is too long for requested model.'],
  max_tokens_exceeded: [
    'ValidationException',
    'The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.',
  ],
  content_policy_violation: [
    'ValidationException',
    'The model returned the following errors: Output blocked by content filtering policy',
  ],
  unsupported_parameter: [
    'ValidationException',
    'The model returned the following errors: Malformed input request: extraneous key [logit_bias] is not permitted, please reformat your input and try again.',
  ],
  unsupported_value: [
    'ValidationException',
    'The model returned the following errors: `temperature` may only be set to 1 when thinking is enabled.',
  ],
  invalid_function_parameters: [
    'ValidationException',
    'The value at toolConfig.tools.0.toolSpec.inputSchema.json.type must be one of the following: object.',
  ],
  invalid_image_url: ['ValidationException', 'The model returned the following errors: Could not process image'],
  image_too_large: [
    'ValidationException',
    'The model returned the following errors: messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes',
  ],
  invalid_image_format: [
    'ValidationException',
    "Value 'tiff' at 'messages.1.member.content.1.member.image.format' failed to satisfy constraint: Member must satisfy enum value set: [jpeg, png, gif, webp]",
  ],
  insufficient_quota: ['ServiceQuotaExceededException', 'Your request exceeds the service quota for your account.'],
  rate_limit_exceeded: ['ThrottlingException', 'Too many tokens, please wait before trying again.'],
};

const internal = [
  'InternalServerException',
  'The system encountered an unexpected error during processing. Try your request again.',
] as const;

function typeAndMessage(status: number, code = ''): readonly [type: string, message: string] {
  const [type, message] =
    types[status] ?? (status < 500 ? ['ValidationException', 'The request is not valid.'] : internal);
  return named[code] ?? (code.endsWith('Exception') ? [code, message] : [type, message]);
}

export function bedrockError(status: number, code?: string, message?: string) {
  const [type, text] = typeAndMessage(status, code);
  return { body: { message: message ?? text }, headers: { 'x-amzn-errortype': type } };
}

/** The exception that ends a stream. Its name begins with a small letter there. */
export function bedrockException(code?: string): { readonly name: string; readonly body: object } {
  const [type, message] = typeAndMessage(500, code);
  return { name: `${type.charAt(0).toLowerCase()}${type.slice(1)}`, body: { message } };
}
