// What the description says of a request is what the gateway does: the same bodies and headers are good or bad to both.

import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { parameters } from '../../infra/openapi/description/index.ts';
import { GatewayError } from '../../shared/errors/index.ts';
import { headerNames } from '../../shared/foundation/constants/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { readCorrelation } from '../../shared/protocol/http/index.ts';
import { readChatRequest } from '../../shared/protocol/interfaces/chat-completions/index.ts';
import { componentSchema, faultsOf } from './api-description.ts';

const isDescribed = (body: unknown): boolean => faultsOf(componentSchema('ChatCompletionRequest'), body).length === 0;
const isAccepted = (body: Record<string, unknown>): boolean => !(readChatRequest(body) instanceof GatewayError);

const value = fc.oneof(
  fc.constantFrom(
    null,
    true,
    false,
    0,
    1,
    -1,
    2.5,
    100_000,
    1e21,
    '',
    'x',
    'price',
    '1.50',
    '0.0000000000001',
    '-1',
    '1e3',
    'low',
  ),
  fc.constantFrom('a@1', 'a@', 'deny', 'eu', 'EU', 'x'.repeat(65), 'auto', 'json_schema'),
  fc.constantFrom<unknown>([], ['x'], [''], [1], {}, { schema: {} }, { schema: true }, { schema: 1 }, [
    { role: 'user' },
  ]),
);

const objectOf = (...names: readonly string[]) =>
  fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 3 }) as fc.Arbitrary<Record<string, unknown>>;

/** One member of the body as a body of its own. */
const member = fc.oneof(
  objectOf(
    'sort',
    'max_price',
    'only',
    'order',
    'ignore',
    'zdr',
    'data_collection',
    'data_residency',
    'require_parameters',
    'other',
  ).map((provider) => ({ provider })),
  objectOf('prompt', 'completion').map((max_price) => ({ provider: { max_price } })),
  objectOf('enabled', 'ttl', 'refresh', 'namespace').map((cache) => ({ cache })),
  objectOf('slug', 'version').map((preset) => ({ preset })),
  objectOf('effort', 'max_tokens', 'exclude', 'summary').map((reasoning) => ({ reasoning })),
  objectOf('type', 'json_schema').map((response_format) => ({ response_format })),
  // What the gateway checks in code, met often.
  fc.constantFrom('price', 'latency', 'throughput', 'speed').map((sort) => ({ provider: { sort } })),
  fc
    .record({ effort: fc.constantFrom('low', null), max_tokens: fc.constantFrom(5, null) }, { requiredKeys: [] })
    .map((reasoning) => ({ reasoning })),
  value.map((json_schema) => ({ response_format: { type: 'json_schema', json_schema } })),
  objectOf('provider', 'cache', 'preset', 'reasoning', 'response_format', 'model', 'models', 'messages'),
  value.map((models) => ({ models })),
  objectOf('stream', 'temperature', 'max_tokens', 'n', 'stop', 'tools', 'usage', 'stream_options', 'seed'),
);

const whole = { model: 'acme/echo', messages: [{ role: 'user', content: 'x' }] };
const bodies = fc
  .tuple(
    fc.constantFrom<Record<string, unknown>>(whole, whole, whole, { model: 'auto' }, { messages: whole.messages }),
    member,
    member,
  )
  .map(([body, one, other]): Record<string, unknown> => ({ ...body, ...one, ...other }));

describe('the description of a request', () => {
  it('takes exactly the bodies that the gateway takes', () => {
    const seen = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(bodies, (body) => {
        const accepted = isAccepted(body);
        seen[accepted ? 'accepted' : 'refused'] += 1;
        expect(isDescribed(body)).toBe(accepted);
      }),
      { numRuns: 400 },
    );
    expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(25);
  });

  it.each([
    headerNames.traceId,
    headerNames.spanId,
    headerNames.sessionId,
    headerNames.sessionIdAlias,
    headerNames.traceparent,
  ])('takes exactly the values of %s that the gateway takes', (name) => {
    const described = parameters.chat.find((parameter) => parameter.name === name);
    const pattern = new RegExp(String(described?.schema.pattern));
    const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`));
    const traceparents = fc
      .tuple(fc.constantFrom('00', '01', 'ff', '0g'), hex(32), hex(16), hex(2), fc.constantFrom([], ['more']))
      .map(([version, trace, parent, flags, more]) => [version, trace, parent, flags, ...more].join('-'));
    const values = fc.oneof(fc.string({ maxLength: 300 }), fc.stringMatching(/^[\w.:-]{1,140}$/), traceparents);
    fc.assert(
      fc.property(values, (text) => {
        const { fault } = readCorrelation({ [name]: [text] }, systemRandomness);
        expect(pattern.test(text)).toBe(fault === undefined);
      }),
    );
  });
});
