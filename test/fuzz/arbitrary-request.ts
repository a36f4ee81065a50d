// Chat requests as clients send them, with every field that the gateway reads, and their headers.
import fc from 'fast-check';
import { arbitraryValue } from './arbitrary-json.ts';
import { functionAliases, modelIds } from './fuzz-file.ts';

const content = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constant(null),
  fc.constantFrom('{"ticket":"t"}', '{"a":{"b":[1]}}', 'Hello'),
  fc.constant([
    { type: 'text', text: 'Look' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
  ]),
  fc.constant([{ type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } }]),
);

const message = fc.record({
  role: fc.constantFrom('user', 'user', 'system', 'assistant', 'developer', 'tool'),
  content,
});

const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
const tool = { type: 'function', function: { name: 'look', parameters: schema } };

const provider = fc.record(
  {
    sort: fc.constantFrom('price', 'latency', 'throughput', 'speed'),
    max_price: fc.oneof(
      fc.double({ min: 0, noNaN: true }),
      fc.constant({ prompt: '1.5', completion: 2, request: 1, character: '9' }),
      fc.constant('0'),
    ),
    only: fc.constantFrom('acme', 'globex', ['acme'], ['acme', 'globex'], 'unknown'),
    order: fc.constantFrom(['globex', 'acme'], [], ['unknown']),
    ignore: fc.constantFrom(['acme'], ['globex'], []),
    allow_fallbacks: fc.boolean(),
    zdr: fc.boolean(),
    data_collection: fc.constantFrom('allow', 'deny'),
    data_residency: fc.constantFrom('eu', ['eu', 'us'], 'US'),
  },
  { requiredKeys: [] },
);

const reasoning = fc.record(
  {
    effort: fc.constantFrom('none', 'low', 'high', 'max'),
    max_tokens: fc.nat(),
    exclude: fc.boolean(),
    enabled: fc.boolean(),
    summary: fc.constantFrom('auto', 'concise'),
  },
  { requiredKeys: [] },
);

const cache = fc.record(
  { enabled: fc.boolean(), ttl: fc.integer({ min: 0, max: 90_000 }), refresh: fc.boolean(), namespace: fc.string() },
  { requiredKeys: [] },
);

const rarely = <Value>(arbitrary: fc.Arbitrary<Value>, weight = 4): fc.Arbitrary<Value | undefined> =>
  fc.oneof({ weight, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

export const validRequest: fc.Arbitrary<Record<string, unknown>> = fc
  .record({
    model: fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...modelIds, 'auto') },
      { weight: 2, arbitrary: fc.constantFrom(...functionAliases) },
      { weight: 1, arbitrary: fc.constantFrom('unknown', 'gw/function/', 'gw/function/a/b', 'gw/function/text@', '') },
    ),
    messages: fc.array(message, { minLength: 1, maxLength: 4 }),
    stream: rarely(fc.boolean(), 1),
    stream_options: rarely(fc.record({ include_usage: fc.boolean() })),
    usage: rarely(fc.record({ include: fc.boolean() })),
    temperature: rarely(fc.double({ noNaN: true, noDefaultInfinity: true })),
    max_tokens: rarely(fc.integer({ min: 1, max: 2 ** 40 })),
    n: rarely(fc.integer({ min: 1, max: 200 }), 9),
    stop: rarely(fc.oneof(fc.string(), fc.array(fc.string()))),
    seed: rarely(fc.integer()),
    tools: rarely(fc.constant([tool])),
    response_format: rarely(
      fc.constantFrom(
        { type: 'json_object' },
        { type: 'text' },
        { type: 'json_schema', json_schema: { name: 's', schema } },
      ),
      8,
    ),
    provider: rarely(provider),
    reasoning: rarely(reasoning),
    cache: rarely(cache, 9),
    preset: rarely(fc.constantFrom('terse', 'terse@1', 'absent', { slug: 'terse', version: '2' }), 9),
  })
  .map((body) => Object.fromEntries(Object.entries(body).filter(([, member]) => member !== undefined)));

/** A call that a function accepts, with any input. */
export const functionCall: fc.Arbitrary<Record<string, unknown>> = fc
  .tuple(fc.constantFrom(...functionAliases), arbitraryValue, arbitraryValue)
  .map(([model, ticket, more]) => {
    const input = model.includes('/text') ? String(JSON.stringify(ticket)) : JSON.stringify({ ticket, more });
    return { model, messages: [{ role: 'user', content: input }], user: 'user-1' };
  });

const headerText = fc.oneof(
  fc.constantFrom('used-before', '00000000-0000-4000-8000-000000000000'),
  fc.stringMatching(/^[A-Za-z0-9._:-]{1,40}$/),
  fc.string({ maxLength: 300 }),
  fc.constantFrom(
    '',
    ' ',
    'a b',
    'é',
    'a,b',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    'x'.repeat(2_000),
  ),
  fc.uuid(),
);

const headerNames = [
  'x-gw-trace-id',
  'x-gw-span-id',
  'x-gw-parent-span-id',
  'x-gw-session-id',
  'x-session-id',
  'traceparent',
  'idempotency-key',
  'x-byok-key',
  'http-referer',
  'x-title',
  'content-type',
  'content-encoding',
  'x-forwarded-for',
  '__proto__',
];

/** Values by header name, without the credential. */
export const someHeaders: fc.Arbitrary<Record<string, string[]>> = fc
  .array(fc.tuple(fc.constantFrom(...headerNames), fc.array(headerText, { minLength: 1, maxLength: 2 })), {
    maxLength: 4,
  })
  .map((pairs) => Object.fromEntries(pairs));

/** Credentials: mostly the valid key, and some that are nearly valid. */
export const credentialOf = (key: string): fc.Arbitrary<string[]> =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constant<string[]>([`Bearer ${key}`]) },
    {
      weight: 1,
      arbitrary: fc.oneof(
        fc.constantFrom<string[]>(
          [`bearer  ${key}`],
          [`Bearer ${key} `],
          [`Bearer ${key}x`],
          [`Basic ${key}`],
          [key],
          [],
          [`Bearer ${key}`, `Bearer ${key}`],
          ['Bearer'],
        ),
        fc.nat({ max: key.length - 1 }).map((at): string[] => [`Bearer ${key.slice(0, at)}0${key.slice(at + 1)}`]),
        fc.array(fc.string(), { maxLength: 2 }),
      ),
    },
  );

const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
const listOf = (value: unknown, length: number): unknown[] => new Array(length).fill(value);

/** A value at, below or above a bound of a request. */
const bigValue = fc.oneof(
  fc.integer({ min: 60, max: 66 }).map(nested),
  fc.tuple(arbitraryValue, fc.integer({ min: 250, max: 260 })).map(([value, length]) => listOf(value, length)),
  fc
    .tuple(fc.constantFrom<unknown>(1, '', null, {}, [], { role: 'user' }), fc.integer({ min: 99_980, max: 100_010 }))
    .map(([value, length]) => listOf(value, length)),
);

const otherCase = (name: string, at: number): string => {
  const letter = name.charAt(at % name.length);
  return name.replace(letter, letter.toUpperCase());
};

/** Requests that are large, deep, or name a field in another letter case. */
export const costlyRequest: fc.Arbitrary<Record<string, unknown>> = fc
  .tuple(
    validRequest,
    fc.constantFrom('messages', 'tools', 'stop', 'models', 'metadata', 'provider', 'cache', 'reasoning', 'usage'),
    bigValue,
    fc.constantFrom('replace', 'inside', 'case'),
    fc.nat(),
  )
  .map(([body, name, value, how, at]) => {
    if (how === 'replace') return { ...body, [name]: value };
    if (how === 'inside') return { ...body, [name]: { ...(body[name] as object), only: value, other: value } };
    return { ...body, [otherCase(name, at)]: value };
  });
