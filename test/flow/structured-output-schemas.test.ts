// Schemas that were made to hurt: each is refused in its turn, no provider hears of it, and the gateway serves on.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { completionOf, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';

const format = (schema: unknown) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'hostile', schema } },
});
const nested = (levels: number): object => {
  let schema: object = {};
  for (let level = 1; level < levels; level += 1) schema = { not: schema };
  return schema;
};
const fanOut = (steps: number): object => {
  const twice = (step: number) => ({ allOf: [{ $ref: `#/$defs/d${step + 1}` }, { $ref: `#/$defs/d${step + 1}` }] });
  const links = Array.from({ length: steps }, (_, step): [string, object] => [`d${step}`, twice(step)]);
  return { $ref: '#/$defs/d0', $defs: { ...Object.fromEntries(links), [`d${steps}`]: {} } };
};
const twin = { $id: 'https://schemas.example/twin' };

const hostile: readonly [what: string, schema: unknown][] = [
  ['a pattern that backtracks without end', { type: 'string', pattern: '^(a+)+$' }],
  ['such a pattern among member names', { patternProperties: { '(x|x)*y': {} } }],
  ['a pattern of another language', { pattern: '(?P<name>a)' }],
  ['more levels than 32', nested(33)],
  ['a hundred levels', nested(100)],
  ['more bytes than 64 KiB', { description: 'x'.repeat(65_536) }],
  ['a reference to another host', { $ref: 'https://schemas.example/a.json' }],
  ['a reference to a file', { $ref: 'file:///etc/passwd' }],
  ['a reference to nothing', { $ref: '#/$defs/nothing' }],
  ['one $id twice', { $defs: { a: twin, b: twin } }],
  ['the $id of the root again', { ...twin, $defs: { a: twin } }],
  ['a reference to itself', { $ref: '#' }],
  ['references that double each other', fanOut(40)],
  ['another draft', { $schema: 'http://json-schema.org/draft-03/schema#' }],
  ['a draft of one’s own', { $schema: 'https://schemas.example/mine' }],
  ['an unknown type', { type: 'date' }],
  ['members that are no schemas', { properties: { a: 'string' } }],
  ['text', 'object'],
  ['a list', [{ type: 'object' }]],
  ['nothing', null],
];

describe('a hostile schema', () => {
  let gateway: Harness;

  beforeAll(async () => {
    gateway = await startHarness({
      models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] },
      workspace: {
        presets: [{ slug: 'bad', versions: [{ version: '1', config: format({ type: 'date' }) }], designated: '1' }],
        features: { presets: true },
      },
    });
  });
  afterAll(() => gateway.stop());
  beforeEach(() => gateway.simulator.clear());
  afterEach(async () => {
    expect(gateway.simulator.calls).toHaveLength(0);
    const response = await gateway.post(hello('acme/echo', format({ type: 'object' })));
    expect(response.status).toBe(200);
    await response.text();
  });

  it.each(hostile)('is refused, and no provider is called: %s', async (_what, schema) => {
    const { message } = await expectError(
      await gateway.post(hello('acme/echo', format(schema))),
      400,
      'invalid_response_schema',
    );
    expect(message.length).toBeLessThan(500);
  });

  it('is refused in a stream too, and before the stream is', async () => {
    const body = hello('acme/echo', { stream: true, ...format({ type: 'date' }) });
    await expectError(await gateway.post(body), 400, 'invalid_response_schema');
  });

  it('is refused without a schema, or without anything to hold one', async () => {
    for (const json_schema of [undefined, null, {}, { name: 'x' }, [], 'schema']) {
      const body = hello('acme/echo', { response_format: { type: 'json_schema', json_schema } });
      await expectError(await gateway.post(body), 400, 'invalid_response_schema');
    }
  });

  it('that comes with a preset is refused as if the request had brought it', async () => {
    await expectError(await gateway.post(hello('acme/echo', { preset: 'bad' })), 400, 'invalid_response_schema');
  });

  it('of ten thousand levels is refused before anything walks through it', async () => {
    const deep = `${'{"not":'.repeat(10_000)}{}${'}'.repeat(10_000)}`;
    const body = JSON.stringify(hello('acme/echo', format('SCHEMA'))).replace('"SCHEMA"', deep);
    const response = await gateway.post(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: expect.stringMatching(/^invalid_(request|response_schema)$/),
    });
  });

  it('is work, and strangers get none done', async () => {
    const response = await gateway.post(hello('acme/echo', format({ pattern: '^(a+)+$' })), {
      authorization: `Bearer ${gateway.key.slice(0, -1)}`,
    });
    await expectError(response, 401, 'UNAUTHORIZED');
  });
});

describe('hostile schemas of one key, all at once', () => {
  it('are each refused in the end, and the calls of another key are served meanwhile, structured ones too', async () => {
    const otherKey = newKey();
    const gateway = await startHarness({
      models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] },
      moreWorkspaces: [{ id: 'other', credit_usd: '1', keys: [{ name: 'first', key: otherKey }] }],
    });
    const authorization = `Bearer ${otherKey}`;
    let isOver = false;
    const hostile = Array.from({ length: 3 }, async () => {
      const body = hello('acme/echo', format({ type: 'string', pattern: '^(a+)+$' }));
      await expectError(await gateway.post(body), 400, 'invalid_response_schema');
    });
    const all = Promise.all(hostile).then(() => {
      isOver = true;
    });
    let served = 0;
    while (!isOver) {
      const members = served % 2 === 0 ? {} : format({ type: 'object' });
      const response = await gateway.post(hello('acme/echo', members), { authorization });
      expect(response.status).toBe(200);
      await response.text();
      served += 1;
    }
    await all;
    expect(served).toBeGreaterThan(3);
    await gateway.stop();
  });
});

describe('a schema that is hostile only together with an answer', () => {
  it('ends within its time: the answer counts as invalid, is not asked for again, and the gateway serves on', async () => {
    const slow = '^id:x*x*x*x*x*x*x*x*x*x*$';
    const content = JSON.stringify(`id:${'x'.repeat(1_000)}!`);
    const provider = await startScriptedProvider((outgoing) => sendJson(outgoing, completionOf({ content })));
    const gateway = await startHarness({
      models: {
        'acme/model': [{ provider: 'acme', upstream: 'any' }],
        'acme/echo': [{ provider: 'bolt', upstream: 'echo' }],
      },
      providers: { acme: { base_url: provider.url } },
    });
    const dragged = gateway.post(hello('acme/model', format({ type: 'string', pattern: slow })));
    const other = await gateway.post(hello('acme/echo'));
    expect(other.status).toBe(200);
    await other.text();
    await expectError(await dragged, 422, 'schema_validation_failed', { detail: { attempts: 1 } });
    expect(provider.bodies).toHaveLength(1);
    await gateway.stop();
    await provider.stop();
  });
});
