// What POST /v1/chat/completions answers with. Required is what the gateway vouches for; the rest is the provider's own.

import { errorCatalogue, rejectionReasons } from '../../shared/errors/index.ts';
import { midStreamCodes } from '../../shared/routing/providers/index.ts';
import { arrayOf, type JsonSchema, objectSchema, schemaReference } from './json-schema.ts';

const text = { type: 'string' };
const usd = { type: 'number', minimum: 0 };
const count = { type: 'integer', minimum: 0 };

const usage = objectSchema(
  {
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    cost: { ...usd, description: 'What the workspace pays, in USD.' },
    cost_usd: { ...text, pattern: '^\\d+(\\.\\d+)?$', description: 'The same as an exact decimal.' },
    cost_details: objectSchema(
      { upstream_inference_prompt_cost: usd, upstream_inference_completions_cost: usd },
      { description: 'What the provider asks for, whoever pays, in USD.' },
    ),
    is_byok: { type: 'boolean', description: 'A key of the client’s own paid the provider.' },
    provider: { ...text, description: 'The id of the provider that served.' },
    model: { ...text, description: 'The catalogue id of the model that served.' },
    attempts: { ...count, description: 'Provider calls made for this answer.' },
    cache_hit: { type: 'boolean', description: 'The answer came from the response cache.' },
    estimated: { type: 'boolean', description: 'The provider gave no usable counts: these are counted from bytes.' },
  },
  {
    optional: ['prompt_tokens', 'completion_tokens', 'total_tokens', 'estimated'],
    description: 'The usage of the provider, with members of the gateway.',
  },
);

const functionFacts = objectSchema(
  {
    function_id: text,
    revision_id: text,
    fallback_used: { type: 'boolean', description: 'A fallback model produced the result.' },
    execution_id: { ...text, format: 'uuid', description: 'A UUID of version 7.' },
  },
  { description: 'Of function calls only.' },
);

const choice = objectSchema(
  { index: count, message: { type: 'object' }, finish_reason: { type: ['string', 'null'] } },
  { optional: ['index', 'finish_reason'] },
);

const completionHead = { id: text, object: text, created: { type: 'integer' }, model: text };

const chatCompletion = objectSchema(
  {
    ...completionHead,
    choices: arrayOf(choice, { minItems: 1 }),
    usage: schemaReference('Usage'),
    gw: schemaReference('FunctionFacts'),
  },
  { optional: [...Object.keys(completionHead), 'gw'], description: 'A standard `chat.completion`.' },
);

const chunk = objectSchema(
  { ...completionHead, choices: arrayOf({ type: 'object' }), usage: { type: ['object', 'null'] } },
  {
    optional: [...Object.keys(completionHead), 'choices', 'usage'],
    description: 'A standard `chat.completion.chunk`, byte for byte as the provider sent it.',
  },
);

const streamError = objectSchema(
  { error: objectSchema({ code: { ...text, enum: [...new Set(Object.values(midStreamCodes))] }, message: text }) },
  { description: 'Stands before the end marker of a stream that broke after its first output.' },
);

const errorEnvelope = objectSchema(
  {
    error: { ...text, enum: Object.keys(errorCatalogue), description: 'The stable code: branch on it.' },
    message: { ...text, description: 'For people. May change.' },
    correlation_id: { ...text, format: 'uuid', description: 'Also the header x-request-id, and in the log.' },
    reason: { ...text, enum: rejectionReasons, description: 'Only on 400: what every provider objected to.' },
    detail: objectSchema(
      { attempts: count },
      { description: 'Only on schema_validation_failed: provider calls made.' },
    ),
  },
  { optional: ['reason', 'detail'] },
);

export const answerSchemas: Readonly<Record<string, JsonSchema>> = {
  ChatCompletion: chatCompletion,
  ChatCompletionChunk: chunk,
  StreamError: streamError,
  Usage: usage,
  FunctionFacts: functionFacts,
  Error: errorEnvelope,
};
