// Requests for JSON as OpenAI's formats require them.
import type { JSONSchema7, LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { HubCall } from '../../../../protocol/hub/index.ts';
import type { TargetCall } from './hub-target.ts';
import { openAiStrictness } from './strict-schemas.ts';

/** Adds the word JSON, because some models refuse JSON without a schema if no text of the request mentions it. */
export const withJsonWord = (call: HubCall): HubCall =>
  !isAnyJson(call) || speaksOfJson(call.prompt)
    ? call
    : { ...withJsonInstruction(call), responseFormat: { type: 'json' } };

const speaksOfJson = (prompt: LanguageModelV4Prompt): boolean =>
  prompt.some(({ content }) =>
    typeof content === 'string'
      ? /json/i.test(content)
      : content.some((part) => part.type === 'text' && /json/i.test(part.text)),
  );

/** Sends schemas as the client wrote them, because the package would change some schemas, and fail on others. */
export function withOwnSchemas(call: HubCall): HubCall {
  const { tools, responseFormat: format } = call;
  return {
    ...call,
    ...(tools === undefined
      ? {}
      : {
          tools: tools.map((tool) =>
            tool.type === 'function' ? { ...tool, inputSchema: asItIs(tool.inputSchema) } : tool,
          ),
        }),
    ...(format?.type === 'json' && format.schema !== undefined
      ? { responseFormat: { ...format, schema: asItIs(format.schema) } }
      : {}),
  };
}

const asItIs = (schema: JSONSchema7): JSONSchema7 => ({ toJSON: () => schema }) as JSONSchema7;

/**
 * True if the schema allows no other properties, and uses only keywords that a strict schema may have, because any
 * other keyword would be refused.
 */
export const isStrictFormat = ({ responseFormat }: HubCall): boolean =>
  responseFormat?.type === 'json' && openAiStrictness.holds(responseFormat.schema);

// The options that every package gets.

export function callOptions({ call, outputMaxTokens }: TargetCall): LanguageModelV4CallOptions {
  const { reasoning: _reasoning, parallelToolCalls: _parallel, optional: _optional, ...options } = call;
  return { ...options, maxOutputTokens: outputMaxTokens };
}

/** True if the answer has to be JSON, without a schema. */
export const isAnyJson = ({ responseFormat }: HubCall): boolean =>
  responseFormat?.type === 'json' && responseFormat.schema === undefined;

/** Returns a schema without constraints, for models without a JSON mode. */
export const anyJsonSchema: { readonly type: 'json'; readonly schema: JSONSchema7 } = {
  type: 'json',
  schema: { type: 'object', additionalProperties: true },
};

/**
 * Returns the call with an instruction about the JSON in a text, in place of a tool that the model is forced to call.
 */
export function withJsonInstruction(call: HubCall): HubCall {
  const { responseFormat, ...plain } = call;
  const schema = responseFormat?.type === 'json' ? responseFormat.schema : undefined;
  const schemaText = schema === undefined ? '' : ` It satisfies this JSON schema: ${JSON.stringify(schema)}`;
  const content = `Unless you call a tool, answer with one JSON object and nothing else: no code fence, no other text.${schemaText}`;
  const start = call.prompt.findIndex(({ role }) => role !== 'system');
  return { ...plain, prompt: call.prompt.toSpliced(Math.max(start, 0), 0, { role: 'system', content }) };
}
