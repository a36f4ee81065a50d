// Describes the account interface of a key, typed field by field after the gateway's documents.

import type { keyDocument } from '../../../functions/gateway/account/serve-account.ts';
import { type CallDocument, callDocumentSchemas } from '../../../shared/accounting/call-records/index.ts';
import { interfaceIds } from '../../../shared/foundation/constants/index.ts';
import { type JsonSchema, type MembersOf, objectSchema, text } from '../../../shared/protocol/description/index.ts';

const textOrNull = { type: ['string', 'null'] };
const countOrNull = { type: ['integer', 'null'], minimum: 0 };
const amount = { type: 'string', pattern: '^-?\\d+(\\.\\d+)?$' };
const amountOrNull = { type: ['string', 'null'], pattern: '^-?\\d+(\\.\\d+)?$' };

const key: MembersOf<ReturnType<typeof keyDocument>> = {
  name: text,
  workspace: text,
  status: { ...text, enum: ['active', 'revoked'] },
  rpm: { ...countOrNull, description: 'Requests per minute. Null: no limit.' },
  limit_usd: { ...amountOrNull, description: 'All that the key may spend. Null: no limit.' },
  limit_reset: { ...textOrNull, description: 'When its spend limit resets: daily, weekly or monthly. Null: never.' },
  usage_usd: { ...amount, description: 'What the key has spent, limited or not; with a reset, in the present period.' },
  limit_remaining_usd: { ...amountOrNull, description: 'What running calls hold is taken off.' },
  expires_at: { type: ['string', 'null'], format: 'date-time' },
  models: { type: ['array', 'null'], items: text, description: 'Ids it may call. Null: all of its workspace.' },
  is_free_tier: { const: false },
};

type AttemptMember = keyof CallDocument['attempts'][number];

/** Descriptions of fields; the record has the schemas. */
const attemptDescriptions: Readonly<Partial<Record<AttemptMember, string>>> = {
  outcome: '`ok`, or one word for the failure: `status_500`, `timeout`, `connection`.',
  status: 'Of the answer of the provider; left out where there was none.',
  model: 'Only where the call went to others than `model`.',
};

const generationDescriptions: Readonly<Partial<Record<keyof CallDocument, string>>> = {
  id: 'The `x-request-id` of the answer.',
  outcome: '`ok`, `cut`, `client_gone`, or the code of the error that the client got.',
  status: 'Of the answer. Null: the client left before its end.',
  error_code: 'Of the error that the client got, or that ended its stream.',
  error_message: 'Of the error that the client got in place of an answer.',
  replay_of: 'The id of the call whose stored answer this one got.',
  model: 'Null: no model answered.',
  interface: `${interfaceIds.map((id) => `\`${id}\``).join(', ')}.`,
  format: 'The format in which the provider was called. Null: none answered.',
  left_out: 'Members of the request that this format has no words for, as paths. Null: none.',
  units: 'Images, characters, seconds or search units of the call. Null: only its tokens count.',
  guardrails:
    'The decision of each guardrail, in how many checks and ms, and their units or cost where known. Null: none.',
  blocked_by: 'The guardrail that blocked the request or the answer. Null: none did.',
  base_path: 'Of the base URL of the call: `/v1` or `/openai/v1`.',
  model_asked: 'Null: the body names none that could be read.',
};

const described = (
  schemas: Readonly<Record<string, JsonSchema>>,
  descriptions: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, JsonSchema>> =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const description = descriptions[name];
      return [name, description === undefined ? schema : { ...schema, description }];
    }),
  );

function generation(): Readonly<Record<string, JsonSchema>> {
  const { attempts, ...schemas } = callDocumentSchemas();
  const { items, ...list } = attempts as { readonly items: { readonly properties: Record<AttemptMember, JsonSchema> } };
  const properties = described(items.properties, attemptDescriptions);
  return described({ ...schemas, attempts: { ...list, items: { ...items, properties } } }, generationDescriptions);
}

const dataOf = (members: Readonly<Record<string, JsonSchema>>): JsonSchema =>
  objectSchema({ data: { ...objectSchema(members), additionalProperties: false } });

export const accountSchemas: Readonly<Record<string, JsonSchema>> = {
  KeyAnswer: dataOf(key),
  CreditsAnswer: dataOf({ total_credits: amount, total_usage: amount, remaining: amount }),
  GenerationAnswer: dataOf(generation()),
};
