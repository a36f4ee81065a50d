// What a key may see of itself, typed member by member after the documents that the gateway answers with.

import type { callDocument } from '../../../shared/accounting/call-records/index.ts';
import type { keyDocument } from '../account/serve-account.ts';
import { arrayOf, count, flag, type JsonSchema, type MembersOf, objectSchema, text } from './json-schema.ts';

const textOrNull = { type: ['string', 'null'] };
const countOrNull = { type: ['integer', 'null'], minimum: 0 };
const amount = { type: 'string', pattern: '^-?\\d+(\\.\\d+)?$' };
const amountOrNull = { type: ['string', 'null'], pattern: '^-?\\d+(\\.\\d+)?$' };
const instant = { type: 'string', format: 'date-time' };

const key: MembersOf<ReturnType<typeof keyDocument>> = {
  name: text,
  workspace: text,
  status: { ...text, enum: ['active', 'revoked'] },
  rpm: { ...countOrNull, description: 'Requests per minute. Null: no limit.' },
  limit_usd: { ...amountOrNull, description: 'All that the key may spend. Null: no limit.' },
  limit_reset: { ...textOrNull, description: 'When its spending starts again: daily, weekly or monthly. Null: never.' },
  usage_usd: { ...amountOrNull, description: 'Null where nothing limits, and so counts, the spending of the key.' },
  limit_remaining_usd: { ...amountOrNull, description: 'What running calls hold is taken off.' },
  expires_at: { type: ['string', 'null'], format: 'date-time' },
  models: { type: ['array', 'null'], items: text, description: 'Ids it may call. Null: all of its workspace.' },
  is_free_tier: { const: false },
};

type Generation = ReturnType<typeof callDocument>;

const attempt: MembersOf<Generation['attempts'][number]> = {
  provider: text,
  outcome: { ...text, description: '`ok`, or one word for the failure: `status_500`, `timeout`, `connection`.' },
  status: { ...count, description: 'Of the answer of the provider; left out where there was none.' },
  ms: count,
  model: { ...text, description: 'Only where the call went to others than `model`.' },
};

const generation: MembersOf<Generation> = {
  id: { ...text, description: 'The `x-request-id` of the answer.' },
  execution_id: text,
  workspace: text,
  created_at: instant,
  outcome: { ...text, description: '`ok`, `cut`, `client_gone`, or the code of the error that the client got.' },
  status: { ...countOrNull, description: 'Of the answer. Null: the client left before its end.' },
  error_code: { ...textOrNull, description: 'Of the error that the client got, or that ended its stream.' },
  error_message: { ...textOrNull, description: 'Of the error that the client got in place of an answer.' },
  replay_of: { ...textOrNull, description: 'The id of the call whose stored answer this one got.' },
  model: { ...textOrNull, description: 'Null: no model answered.' },
  model_asked: { ...textOrNull, description: 'Null: the body names none that could be read.' },
  provider: textOrNull,
  attempts: arrayOf(objectSchema(attempt, { optional: ['status', 'model'] })),
  attempt_count: count,
  function_id: textOrNull,
  revision_id: textOrNull,
  stream: flag,
  cache_hit: flag,
  is_byok: flag,
  prompt_tokens: count,
  cached_tokens: count,
  completion_tokens: count,
  estimated: flag,
  cost_usd: amount,
  total_ms: count,
  first_output_ms: countOrNull,
  queued_ms: count,
  gateway_ms: count,
  key_name: textOrNull,
  key_public_id: text,
  user: textOrNull,
  title: textOrNull,
  referer: textOrNull,
  trace_id: text,
  span_id: textOrNull,
  parent_span_id: textOrNull,
  session_id: textOrNull,
};

const dataOf = (members: Readonly<Record<string, JsonSchema>>): JsonSchema =>
  objectSchema({ data: { ...objectSchema(members), additionalProperties: false } });

export const accountSchemas: Readonly<Record<string, JsonSchema>> = {
  KeyAnswer: dataOf(key),
  CreditsAnswer: dataOf({ total_credits: amount, total_usage: amount, remaining: amount }),
  GenerationAnswer: dataOf(generation),
};
