// The options that every package is given.
import type { JSONSchema7, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { HubCall, TargetCall } from '../middle/index.ts';

export function callOptions({ call, boundTokens }: TargetCall): LanguageModelV4CallOptions {
  const { reasoning: _asked, parallelToolCalls: _parallel, optional: _optional, ...options } = call;
  return { ...options, maxOutputTokens: boundTokens };
}

/** The answer is to be JSON, of any form. */
export const isAnyJson = ({ responseFormat }: HubCall): boolean =>
  responseFormat?.type === 'json' && responseFormat.schema === undefined;

/** For models without a JSON mode: a schema that holds nothing fast. */
export const anyJsonSchema: { readonly type: 'json'; readonly schema: JSONSchema7 } = {
  type: 'json',
  schema: { type: 'object', additionalProperties: true },
};

/** The tool that packages make a model call for JSON. */
const jsonToolName = 'json';

/** A package would take a call of the client's own tool for the answer, or not have one called that must be. */
export const needsJsonInstruction = ({ call, canForceTools }: TargetCall): boolean =>
  call.responseFormat?.type === 'json' &&
  ((isAnyJson(call) && !canForceTools) || call.tools?.some(({ name }) => name === jsonToolName) === true);

/** The call with its form said in words, in place of a tool that the model is made to call. */
export function withJsonInstruction(call: HubCall): HubCall {
  const { responseFormat, ...plain } = call;
  const schema = responseFormat?.type === 'json' ? responseFormat.schema : undefined;
  const told = schema === undefined ? '' : ` It satisfies this JSON schema: ${JSON.stringify(schema)}`;
  const content = `Unless you call a tool, answer with one JSON object and nothing else: no code fence, no other text.${told}`;
  const start = call.prompt.findIndex(({ role }) => role !== 'system');
  return { ...plain, prompt: call.prompt.toSpliced(Math.max(start, 0), 0, { role: 'system', content }) };
}
