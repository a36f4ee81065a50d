// The options that every package is given.
import type { JSONSchema7, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { HubCall, TargetCall } from '../middle/index.ts';

export function callOptions({ call, boundTokens, thinking }: TargetCall): LanguageModelV4CallOptions {
  const { reasoning: _asked, parallelToolCalls: _parallel, optional: _optional, ...options } = call;
  const effort = thinking === undefined ? {} : { reasoning: thinking === 'none' ? thinking : thinking.effort };
  return { ...options, maxOutputTokens: boundTokens, ...effort };
}

/** The answer is to be JSON, of any form. */
export const isAnyJson = ({ responseFormat }: HubCall): boolean =>
  responseFormat?.type === 'json' && responseFormat.schema === undefined;

/** For models without a JSON mode: a schema that holds nothing fast. */
export const anyJsonSchema: { readonly type: 'json'; readonly schema: JSONSchema7 } = {
  type: 'json',
  schema: { type: 'object', additionalProperties: true },
};
