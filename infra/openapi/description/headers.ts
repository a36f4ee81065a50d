// Describes every header of the interface. A test compares the headers of this file with the names in
// shared/foundation/constants.

import { callHeaderShapes } from '../../../functions/gateway/receive/read-call-headers.ts';
import { headerNames } from '../../../shared/foundation/constants/index.ts';
import type { JsonSchema } from '../../../shared/protocol/description/index.ts';
import { correlationShapes } from '../../../shared/protocol/http/index.ts';
import { tagsForm, tagsMax } from '../../../shared/protocol/wire/index.ts';

type Name = keyof typeof headerNames;

interface Header {
  readonly description: string;
  readonly schema: JsonSchema;
}

const text = (description: string, schema: JsonSchema = {}): Header => ({
  description,
  schema: { type: 'string', ...schema },
});

const patternOf = ({ source }: RegExp) => ({ pattern: source });
const id = patternOf(correlationShapes.id);
const session = patternOf(correlationShapes.session);

const correlationHeaders = {
  traceId: text('The trace of the call; comes back, made by the gateway where none is sent.', id),
  spanId: text('The span of the call. Used once in a workspace.', id),
  parentSpanId: text('Needs a trace, and differs from the span.', id),
  sessionId: text('The session that the call belongs to.', session),
  sessionIdAlias: text('Another name of the session header. They must agree.', session),
  traceparent: text(
    'W3C Trace Context. Its trace id must agree with the trace header. Reaches the provider.',
    patternOf(correlationShapes.traceparent),
  ),
} satisfies Partial<Record<Name, Header>>;

const commonHeaders = {
  ...correlationHeaders,
  errorFormat: text(
    'The form of errors: that of OpenAI, which its SDKs read. Any other value: the form of the gateway.',
    {
      examples: ['openai'],
    },
  ),
} satisfies Partial<Record<Name, Header>>;

/** `Authorization` is not in this list, because it is the security scheme. */
const chatHeaders = {
  idempotencyKey: text(
    'A retry with the same key and inputs gets the stored answer for 24 hours. On function calls a UUID.',
    patternOf(callHeaderShapes.idempotencyKey),
  ),
  ...commonHeaders,
  byokKey: text(
    'A key of your own for the one provider that `provider.only` names, where the feature is on.',
    patternOf(callHeaderShapes.byokKey),
  ),
  referer: text('Attribution: recorded, never sent on.'),
  title: text('Attribution: recorded, never sent on.'),
  tags: text(
    `What the call is for: at most ${tagsMax} ${tagsForm}. Recorded, never sent on; those of the key overrule them.`,
    { examples: ['team=search,feature=rerank'] },
  ),
} satisfies Partial<Record<Name, Header>>;

const idHeaders = {
  requestId: text('The `correlation_id` of an error.', { format: 'uuid' }),
  traceId: text('The trace of the call.', id),
} satisfies Partial<Record<Name, Header>>;

const servedHeaders = {
  model: text('The catalogue id of the model that served.'),
  provider: text('The id of the provider that served.'),
  cache: text('Where `cache` was sent: what the response cache did.', { enum: ['HIT', 'MISS', 'BYPASS', 'REFRESH'] }),
  leftOut: text(
    'Members of the request that the format of the provider has no words for: paths with commas between them.',
  ),
  idempotentReplayed: text('The stored answer of the first call with this Idempotency-Key.', { const: 'true' }),
  serverTiming: text('`gw;dur=`: the milliseconds spent in the gateway itself.'),
} satisfies Partial<Record<Name, Header>>;

const retryHeaders = {
  retryAfter: {
    description: 'When to come back, in seconds.',
    schema: { type: 'integer', minimum: 1, maximum: 60 },
  },
  shouldRetry: text('What a client that retries by itself should do.', { enum: ['true', 'false'] }),
} satisfies Partial<Record<Name, Header>>;

const byName = (headers: Partial<Record<Name, Header>>): Record<string, Header> =>
  Object.fromEntries(Object.entries(headers).map(([name, header]) => [headerNames[name as Name], header]));

const toParameters = (headers: Partial<Record<Name, Header>>) =>
  Object.entries(byName(headers)).map(([name, header]) => ({ name, in: 'header', required: false, ...header }));

const modelsHeaders = {
  ...commonHeaders,
  anthropicVersion: text('Answers and errors have the form of Anthropic.', { examples: ['2023-06-01'] }),
  googleApiKey: text('The key, in place of `Authorization`. Answers and errors have the form of Google.'),
} satisfies Partial<Record<Name, Header>>;

export const parameters = {
  chat: toParameters(chatHeaders),
  models: toParameters(modelsHeaders),
  account: toParameters(commonHeaders),
};

/** Descriptions of answers' headers, by lower-case name. */
export const responseHeaders = {
  onEvery: byName(idHeaders),
  onAnswers: byName(servedHeaders),
  onErrors: { ...byName(retryHeaders), allow: text('The methods of the path. On 405 only.') },
};
