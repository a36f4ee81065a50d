// The description of the API is complete, and agrees with shared/errors and shared/foundation/constants.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import fc from 'fast-check';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { errorColumns, errorRows, memberDescriptions, parameters } from '../../infra/openapi/description/index.ts';
import { errorCatalogue, GatewayError } from '../../shared/errors/index.ts';
import {
  configFreshMs,
  connectTimeoutDefaultMs,
  firstChunkTimeoutDefaultMs,
  headerNames,
  idleTimeoutDefaultMs,
  refusalRecordsPerSecond,
  requestBudgetMs,
} from '../../shared/foundation/constants/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { readCorrelation } from '../../shared/protocol/http/index.ts';
import { readChatRequest } from '../../shared/protocol/interfaces/chat-completions/index.ts';
import { builtPrograms } from '../support/built-programs.ts';
import { promptFunction } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { componentSchema, description, differencesOf, faultsOf, operationOf } from './api-description.ts';

const projectRoot = join(import.meta.dirname, '../..');
const print = async (...args: string[]): Promise<string> =>
  execFileSync(process.execPath, ['infra/openapi/main.ts', ...args], {
    cwd: projectRoot,
    env: { ...process.env, ...(await builtPrograms()) },
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  });

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** Yields every object of the document with its keys and values, however deep. */
function* entriesIn(value: unknown): Generator<[string, unknown]> {
  if (!isObject(value)) return;
  for (const [name, member] of Object.entries(value)) {
    yield [name, member];
    yield* entriesIn(member);
  }
}

describe('the description of the API', () => {
  it('is an OpenAPI 3.1 document in which every reference leads somewhere', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(description))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    const references = [...entriesIn(description)].filter(([name]) => name === '$ref').map(([, target]) => target);
    expect(references.length).toBeGreaterThan(10);
    for (const reference of references) {
      const [, kind, ...rest] = decodeURI(String(reference)).split('/');
      const name = rest.at(-1)?.replaceAll('~1', '/');
      expect(Object.keys(kind === 'paths' ? description.paths : description.components.schemas)).toContain(name);
    }
  });

  it('has every error code with its status, its cause and its solution, and no other code', () => {
    const table = description['x-gw-errors'] as Record<string, Record<string, unknown>>;
    expect(Object.keys(table).toSorted()).toEqual(Object.keys(errorCatalogue).toSorted());
    for (const [code, { status, retry }] of Object.entries(errorCatalogue)) {
      const sentence = expect.stringMatching(/^[A-Z`].{15,}\.$/);
      expect({ code, ...table[code] }).toEqual({ code, status, retry, cause: sentence, solution: sentence });
    }
  });

  it('has every error code but those of operators among the answers of a chat completion, under its own status only', () => {
    const { responses } = operationOf('POST', '/v1/chat/completions');
    const descriptions = Object.entries(responses)
      .filter(([status]) => status !== '200')
      .flatMap(([status, { content }]) =>
        Object.keys(content['application/json']?.examples ?? {}).map((code) => [code, Number(status)]),
      );
    const catalogue = Object.entries(errorCatalogue)
      .filter(([code]) => !['forbidden', 'precondition_failed'].includes(code))
      .map(([code, { status }]) => [code, status]);
    expect(descriptions.toSorted()).toEqual(catalogue.toSorted());
  });

  it('gives examples that satisfy their own schemas', () => {
    const contents = [...entriesIn(description)].filter(([name]) => name === 'application/json');
    const examples = contents.flatMap(([, content]) => {
      const { schema, examples = {} } = content as { schema: Json; examples?: Record<string, { value: unknown }> };
      return Object.values(examples).map(({ value }) => ({ schema, value }));
    });
    expect(examples.length).toBeGreaterThan(40);
    expect(examples.flatMap(({ schema, value }) => faultsOf(schema, value))).toEqual([]);
  });

  it('describes files of forms as bytes, and JSON only where it is read', () => {
    const contentOf = (path: string) => {
      const { requestBody } = operationOf('POST', path) as unknown as Json;
      return (requestBody as { content: Record<string, { schema: Json }> }).content;
    };
    const binary = { type: 'string', format: 'binary' };
    const transcription = contentOf('/v1/audio/transcriptions');
    expect(Object.keys(transcription)).toEqual(['multipart/form-data']);
    expect(transcription['multipart/form-data']?.schema).toMatchObject({
      properties: { file: binary, stream: { type: 'boolean' } },
      required: ['file'],
    });
    const { 'application/json': json, 'multipart/form-data': form } = contentOf('/v1/images/edits');
    expect(json?.schema).not.toHaveProperty('properties.image');
    expect(form?.schema).toMatchObject({ properties: { image: binary, mask: binary } });
    // The form has an image under either of its names.
    const fields = { model: 'openai/gpt-image-2', prompt: 'Make it night' };
    const isRefused = [fields, { ...fields, image: '…' }, { ...fields, 'image[]': ['…', '…'] }].map(
      (body) => faultsOf(form?.schema ?? {}, body).length > 0,
    );
    expect(isRefused).toEqual([true, false, false]);
    for (const path of [
      '/v1/audio/speech',
      '/v1/rerank',
      '/v1/moderations',
      '/v1/embeddings',
      '/v1/images/generations',
    ]) {
      expect([path, Object.keys(contentOf(path))]).toEqual([path, ['application/json']]);
    }
  });

  it('refuses an error code that does not exist', () => {
    const envelope = { error: 'no_such_code', message: '', correlation_id: '019a2f0e-7c1b-7e55-9d0a-3f1d2c4b5a69' };
    expect(faultsOf(componentSchema('Error'), envelope)).not.toEqual([]);
  });

  it('names every header that the gateway reads or writes, but those that no client sends', () => {
    const text = JSON.stringify(description.paths);
    const missing = Object.values(headerNames).filter((name) => !text.includes(`"${name}"`));
    expect(missing).toEqual([headerNames.authorization, headerNames.originSecret, headerNames.amznErrorType]);
  });

  it('says of every field of the request body what it means, and of no other', () => {
    const paths = [...memberPaths(description.components.schemas.ChatCompletionRequest, '')];
    expect(paths.toSorted()).toEqual(Object.keys(memberDescriptions).toSorted());
  });

  it('is printed as JSON and as YAML, for the server that is asked for', async () => {
    expect(JSON.parse(await print())).toEqual(description);
    const other = { ...description, servers: [{ url: 'https://gw.example' }] };
    expect(parse(await print('--yaml', '--server', 'https://gw.example'))).toEqual(other);
  });

  it('is printed error by error, by the command that its page names', async () => {
    expect(readText('infra/openapi/README.md')).toContain('npm run --silent openapi -- --errors');
    expect(tableIn(await print('--errors'))).toEqual([[...errorColumns], ...errorRows()]);
  });

  it('is not contradicted by the pages on bounds: they have the numbers of the constants', () => {
    const seconds = (ms: number) => `${ms / 1_000} s`;
    const security = readText('shared/protocol/http/README.md');
    for (const words of [
      `${seconds(connectTimeoutDefaultMs)} to connect, ${seconds(idleTimeoutDefaultMs)} between parts`,
      `${seconds(firstChunkTimeoutDefaultMs)} for a stream`,
      `${seconds(requestBudgetMs)} from its arrival`,
      `${refusalRecordsPerSecond} in a second, for each key and process`,
    ])
      expect(security).toContain(words);
    const chat = readText('functions/gateway/README.md');
    expect(chat).toContain(`are read again after ${seconds(configFreshMs)}:`);
    expect(chat).toContain(`at most ${refusalRecordsPerSecond} in any second`);
  });

  it('names one code for each cause of a 402, and no code of a 402 is missing', () => {
    const [, ...causes] = tableIn(section('Which 402'));
    const codes = causes.map(([, plain = '', ofFunction = '']) => [plain, ofFunction].filter((cell) => cell !== ''));
    for (const cells of codes) for (const cell of cells) expect(cell).toMatch(/^`\w+`$/);
    const known = Object.entries(errorCatalogue).filter(([, { status }]) => status === 402);
    expect([...new Set(codes.flat())].toSorted()).toEqual(known.map(([code]) => `\`${code}\``).toSorted());
  });
});

/** Yields the paths of all nested fields, as the description writes them. */
function* memberPaths(schema: Json | undefined, path: string): Generator<string> {
  yield path;
  for (const branch of (schema?.anyOf as Json[] | undefined) ?? [schema]) {
    const { properties = {}, items } = branch as { properties?: Record<string, Json>; items?: Json };
    if (items !== undefined) yield* memberPaths(items, `${path}[]`);
    for (const [name, member] of Object.entries(properties)) {
      yield* memberPaths(member, path === '' ? name : `${path}.${name}`);
    }
  }
}

const readText = (path: string): string => readFileSync(join(projectRoot, path), 'utf8');

/** Returns the cells of a Markdown table without the line of dashes; the formatter may have aligned them. */
function section(title: string): string {
  return (
    readText('infra/openapi/README.md')
      .split(/^## /m)
      .find((part) => part.startsWith(`${title}\n`)) ?? ''
  );
}

const tableIn = (markdown: string): string[][] =>
  markdown
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[\s|-]+$/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );

// Answers of the gateway match the description of the API.
const upstreams = {
  'acme/echo': 'echo',
  'acme/tools': 'tools',
  'acme/no-usage': 'no-usage',
  'acme/unknown-members': 'unknown-members',
  'acme/broken': 'error-after-chunks:2',
  'acme/failing': 'error-500',
  'acme/limited': 'error-429:x:30',
  'acme/rejecting': 'error-400:context_length_exceeded',
  'acme/prose': 'invalid-json',
};
const schema = { type: 'object', properties: { label: { type: 'string' } }, required: ['label'] };
const responseFormat = { type: 'json_schema', json_schema: { name: 'label', schema } };
const usage = { include: true };
const stream_options = { include_usage: true };

describe('the answers of the gateway', () => {
  let gateway: Harness;

  beforeAll(async () => {
    gateway = await startHarness({
      models: {
        ...Object.fromEntries(
          Object.entries(upstreams).map(([id, upstream]) => [id, [{ provider: 'acme', upstream }]]),
        ),
        'acme/unconfigured': [{ provider: 'unset', upstream: 'echo' }],
      },
      providers: { unset: { auth: { bearer: { env: 'GW_TEST_VARIABLE_NOBODY_SETS' } } } },
      workspace: {
        functions: [promptFunction('label', 'acme/echo', { options: { max_tokens: 64 } })],
      },
    });
  });
  afterAll(() => gateway.stop());

  const chat = operationOf('POST', '/v1/chat/completions');

  it.each([
    ['a JSON answer', hello('acme/echo')],
    ['an answer whose usage is an estimate', hello('acme/no-usage')],
    ['an answer with members of the provider', hello('acme/unknown-members')],
    ['a structured answer', hello('acme/echo', { response_format: responseFormat })],
    ['the answer of a function', hello('gw/function/label')],
    ['a stream', hello('acme/echo', { stream: true })],
    ['a stream with every usage chunk', hello('acme/tools', { stream: true, usage, stream_options })],
    ['a stream with members of the provider', hello('acme/unknown-members', { stream: true })],
    ['a stream that breaks', hello('acme/broken', { stream: true })],
  ])('are as described: %s', async (_answer, body) => {
    const response = await gateway.post(body);
    expect(response.status).toBe(200);
    expect(await differencesOf(chat, response)).toEqual([]);
  });

  it('are as described if a stored or a cached answer is given again', async () => {
    const body = hello('acme/echo', { cache: {} });
    const first = await gateway.post(body, { 'idempotency-key': 'once' });
    const replay = await gateway.post(body, { 'idempotency-key': 'once' });
    // An answer is stored after its call is settled.
    await gateway.settled();
    const cached = await gateway.post(body);
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    expect(cached.headers.get('x-gw-cache')).toBe('HIT');
    for (const response of [first, replay, cached]) expect(await differencesOf(chat, response)).toEqual([]);
  });

  it.each([
    ['invalid_request', '{', {}],
    ['invalid_request', hello('acme/rejecting'), {}],
    ['unknown_model', hello('nobody/nothing'), {}],
    ['invalid_correlation', hello('acme/echo'), { 'x-gw-trace-id': '?' }],
    ['UNAUTHORIZED', hello('acme/echo'), { authorization: 'Bearer nothing' }],
    ['price_cap_exceeded', hello('acme/echo', { provider: { max_price: 0 } }), {}],
    ['function_not_found', hello('gw/function/none'), {}],
    ['request_too_large', hello('gw/function/label', { user: 'x'.repeat(300_000) }), {}],
    ['schema_validation_failed', hello('acme/prose', { response_format: responseFormat }), {}],
    ['rate_limited', hello('acme/limited'), {}],
    ['no_available_provider', hello('acme/failing'), {}],
    ['provider_not_configured', hello('acme/unconfigured'), {}],
  ])('are as described: %s', async (code, body, headers) => {
    const response = await gateway.post(body, headers);
    expect(await response.clone().json()).toMatchObject({ error: code });
    expect(await differencesOf(chat, response)).toEqual([]);
  });

  it('are as described: the models, and their errors', async () => {
    const models = operationOf('GET', '/v1/models');
    const answers = [
      await gateway.get('/models'),
      await gateway.get('/models', { authorization: 'Bearer nothing' }),
      await gateway.get('/models', { traceparent: '?' }),
      await fetch(`${gateway.url}/models`, { method: 'DELETE' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 400, 405]);
    for (const answer of answers) expect(await differencesOf(models, answer)).toEqual([]);
  });

  it('include the description itself at one path only', async () => {
    const { origin } = new URL(gateway.url);
    for (const path of ['/openapi.yaml', '/v1/openapi.json', '/docs']) {
      expect((await fetch(origin + path)).status).toBe(404);
    }
  });
});

// The gateway and the description accept and refuse the same bodies and headers.
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

/** One field of the body, as a body of its own. */
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
  objectOf('prompt', 'completion', 'request', 'image', 'second', 'character', 'token').map((max_price) => ({
    provider: { max_price },
  })),
  objectOf('enabled', 'ttl', 'refresh', 'namespace').map((cache) => ({ cache })),
  objectOf('slug', 'version').map((preset) => ({ preset })),
  objectOf('effort', 'max_tokens', 'exclude', 'summary').map((reasoning) => ({ reasoning })),
  objectOf('type', 'json_schema').map((response_format) => ({ response_format })),
  // These fields, which the gateway checks in code, occur often.
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
    const outcomes = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(bodies, (body) => {
        const accepted = isAccepted(body);
        outcomes[accepted ? 'accepted' : 'refused'] += 1;
        expect(isDescribed(body)).toBe(accepted);
      }),
      { numRuns: 400 },
    );
    expect(Math.min(outcomes.accepted, outcomes.refused)).toBeGreaterThan(25);
  });

  it.each([
    headerNames.traceId,
    headerNames.spanId,
    headerNames.sessionId,
    headerNames.sessionIdAlias,
    headerNames.traceparent,
  ])('takes exactly the values of %s that the gateway takes', (name) => {
    const description = parameters.chat.find((parameter) => parameter.name === name);
    const pattern = new RegExp(String(description?.schema.pattern));
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
