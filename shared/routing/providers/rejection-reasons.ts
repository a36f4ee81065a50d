// Finds the reason of a provider's rejection in its code, its type, the field it names, or its text.
import type { RejectionReason } from '../../errors/index.ts';

/** Parts of an error, each in lower case, and empty if the provider gives none. */
export interface ErrorDetails {
  readonly code: string;
  readonly type: string;
  readonly parameter: string;
  readonly message: string;
  /** Status, which some providers put into `code`. */
  readonly status: number | undefined;
}

/**
 * Codes of a failed response that concern the request, from `ResponseError` in the package `openai`, without the
 * provider's own failures. `invalid` has no reason.
 */
export const failedResponseCodes: Readonly<Record<string, RejectionReason | 'invalid'>> = {
  invalid_prompt: 'invalid_prompt',
  data_residency_mismatch: 'invalid',
  bio_policy: 'content_policy_violation',
  misalignment_policy_violation: 'content_policy_violation',
  image_content_policy_violation: 'content_policy_violation',
  invalid_image: 'invalid_image',
  invalid_base64_image: 'invalid_image',
  invalid_image_mode: 'invalid_image',
  image_too_small: 'invalid_image',
  image_parse_error: 'invalid_image',
  empty_image_file: 'invalid_image',
  image_file_not_found: 'invalid_image',
  invalid_image_format: 'unsupported_image_format',
  unsupported_image_media_type: 'unsupported_image_format',
  image_too_large: 'image_too_large',
  image_file_too_large: 'image_too_large',
  invalid_image_url: 'image_download_failed',
  failed_to_download_image: 'image_download_failed',
};

/** True for an error without a status that is about its request. */
export const rejectsRequest = ({ code, type }: ErrorDetails): boolean =>
  Object.hasOwn(failedResponseCodes, code) ||
  /invalid_request|context_length|content_policy|content_filter/.test(`${code} ${type}`);

/**
 * Matches the texts with which xAI, llama.cpp, Kimi, Zhipu, Together, GitHub Models, vLLM, Cohere and Titan refuse a
 * prompt that is too long (public reports of 2025 and 2026). A bound below zero means that less than nothing is left of
 * the context.
 */
const otherOverflowWords =
  /maximum prompt length is \d+|exceeds? the available context size|context size has been exceeded|exceeded model token limit|prompt exceeds max length|token count .{0,20}plus max_new_tokens|request body too large for .{1,80} model|max_tokens must be at least 1, got -\d|too many tokens: |too many input tokens\.|`inputs` tokens \+ `max_new_tokens` must be/;

/** Signs from the surest to the vaguest. The first sign that matches determines the reason. */
const reasonSigns: readonly [RejectionReason, (details: ErrorDetails) => boolean][] = [
  [
    'context_length_exceeded',
    ({ code, type, message }) =>
      has(`${code} ${type}`, /context_length|context_window|exceed_context_size|tokens_limit_reached/) ||
      has(
        message,
        /context (length|window|limit)|maximum context|(prompt|input) is too long|token count .{0,30}exceeds/,
      ) ||
      has(message, otherOverflowWords),
  ],
  [
    'content_policy_violation',
    ({ code, type, message }) =>
      has(`${code} ${type}`, /content_policy|content_filter|moderation/) ||
      has(message, /content policy|content management policy|content filter|violates the usage polic/),
  ],
  // Such a code outweighs the parameter that it names: max_tokens, for instance, if only max_completion_tokens is
  // supported.
  ['unsupported_parameter', ({ code }) => has(code, /unsupported_parameter|unknown_parameter/)],
  ['image_too_large', ({ message }) => has(message, /image (is |size )?.{0,20}(too large|exceeds)/)],
  [
    'unsupported_image_format',
    ({ code, message }) =>
      has(code, /unsupported_image/) ||
      has(message, /unsupported image|unsupported mime type: image|media_type: input should be|image\.format' failed/),
  ],
  [
    'image_download_failed',
    ({ code, message }) =>
      has(code, /image_download/) ||
      has(
        message,
        /(download|fetch)\w* .{0,30}image|image .{0,40}could not be (downloaded|fetched)|unable to download the file|fetch content from the provided url/,
      ),
  ],
  [
    'invalid_image',
    ({ code, message }) =>
      has(code, /image/) || has(message, /(invalid|could not (process|parse)|unable to process|corrupt).{0,20} image/),
  ],
  [
    'max_tokens_exceeded',
    ({ code, parameter, message }) =>
      has(code, /max_tokens/) ||
      (has(parameter, /^max_(completion_|output_)?tokens$/) && !has(code, /_below_min|invalid_type|unsupported_/)) ||
      has(
        message,
        /max_(completion_)?tokens.{0,40}(too large|at most|exceed|less than| > )|maximum tokens you requested|maxoutputtokens value/,
      ),
  ],
  [
    'invalid_tools',
    ({ code, parameter, message }) =>
      has(code, /tool|function/) ||
      has(parameter, /^(tools|tool_choice|functions)/) ||
      has(message, /\btools?\b.{0,40}(invalid|schema)|function_declarations/),
  ],
  [
    'unsupported_parameter',
    ({ code, message }) =>
      has(code, /unsupported_value/) ||
      has(
        message,
        /unsupported (parameter|value)|unrecognized (request )?argument|extra (inputs|fields) are not permitted|unknown parameter|extraneous key|unknown name "|may only be set to|is not enabled for/,
      ),
  ],
  [
    'invalid_prompt',
    ({ code, parameter }) => has(code, /invalid_prompt|invalid_messages/) || has(parameter, /^messages/),
  ],
  [
    'invalid_parameter',
    ({ code, parameter }) => has(code, /invalid_(parameter|value|type)|_(above|below)_m(ax|in)/) || parameter !== '',
  ],
];

const has = (text: string, sign: RegExp): boolean => sign.test(text);

/** True for a prompt that is too long, with any status, because llama.cpp refuses such a prompt with 500. */
export const isContextOverflow = (details: ErrorDetails): boolean => reasonSigns[0]?.[1](details) === true;

export function reasonOf(details: ErrorDetails): RejectionReason | undefined {
  const { code } = details;
  const knownReason = Object.hasOwn(failedResponseCodes, code) ? failedResponseCodes[code] : undefined;
  if (knownReason !== undefined) return knownReason === 'invalid' ? undefined : knownReason;
  return reasonSigns.find(([, matches]) => matches(details))?.[0];
}
