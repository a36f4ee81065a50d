// Which error wins. The base request is refused only by the last check of all; every fault is tried alone and together with
// every later one, and the earlier must win. The one that sends megabytes is tried with as many later ones as fit together.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { plainBodyMaxBytes } from '../../shared/foundation/constants/index.ts';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';

interface Sent {
  path: string;
  method: string;
  key: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

interface Fault {
  readonly name: string;
  readonly status: number;
  readonly code: string;
  /** What it writes to: two faults that write to one place cannot be sent together. */
  readonly places: readonly string[];
  readonly apply: (sent: Sent) => void;
}

const revokedKey = newKey();
const schema = { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } };
const brokenSchema = { type: 'json_schema', json_schema: { name: 'x', schema: 'object' } };

const fault = (name: string, status: number, code: string, places: string[], apply: Fault['apply']): Fault => ({
  name,
  status,
  code,
  places,
  apply,
});
const member = (name: string, value: unknown): Fault['apply'] => {
  return ({ body }) => void Object.assign(body, { [name]: value });
};
const preferring = (preferences: object): Fault['apply'] => {
  return ({ body }) => void Object.assign(body, { provider: { ...(body.provider as object), ...preferences } });
};

const padding = member('padding', 'x'.repeat(plainBodyMaxBytes));
const oversized = fault('body over the hard size', 413, 'request_too_large', ['padding'], padding);

const faults: readonly Fault[] = [
  fault('unknown path', 404, 'not_found', ['path'], (sent) => {
    sent.path = '/nothing';
  }),
  fault('other method', 405, 'method_not_allowed', ['method'], (sent) => {
    sent.method = 'PUT';
  }),
  fault('malformed key', 401, 'UNAUTHORIZED', ['key'], (sent) => {
    sent.key = `${sent.key}x`;
  }),
  oversized,
  fault('unknown key', 401, 'UNAUTHORIZED', ['key'], (sent) => {
    sent.key = newKey();
  }),
  fault('revoked key', 401, 'UNAUTHORIZED', ['key', 'alias'], (sent) => {
    sent.key = revokedKey;
  }),
  fault('malformed correlation', 400, 'invalid_correlation', ['correlation'], ({ headers }) => {
    headers['x-gw-span-id'] = 'no spaces allowed';
  }),
  fault('wrong type', 400, 'invalid_request', ['temperature'], member('temperature', 'hot')),
  fault('invalid sort', 400, 'invalid_sort', ['sort'], preferring({ sort: 'cheapest' })),
  fault('broken schema', 400, 'invalid_response_schema', ['format'], member('response_format', brokenSchema)),
  fault('schema in a stream', 400, 'schema_streaming_unsupported', ['format', 'stream'], ({ body }) => {
    Object.assign(body, { response_format: schema, stream: true });
  }),
  // Of a model that begins like an alias of a function no other member is looked at.
  fault('no alias form', 400, 'invalid_function_alias', ['model', 'alias'], member('model', 'gw/model/a')),
  fault('unknown model', 400, 'unknown_model', ['model'], member('model', 'nobody/nothing')),
  fault('not routable', 400, 'model_not_routable', ['model'], member('model', 'acme/nowhere')),
  fault('loosened policy', 422, 'data_policy_loosening_forbidden', ['zdr'], preferring({ zdr: false })),
  fault(
    'no compliant provider',
    422,
    'no_policy_compliant_provider',
    ['residency'],
    preferring({ data_residency: ['is'] }),
  ),
  fault('unsupported feature', 400, 'feature_unsupported', ['tools'], member('tools', [{ type: 'function' }])),
  fault('no structured output', 422, 'structured_output_unsupported', ['format'], member('response_format', schema)),
  fault('over the price cap', 402, 'price_cap_exceeded', ['price'], preferring({ max_price: 0.5 })),
  fault('not configured', 503, 'provider_not_configured', [], () => {}),
];

const canBeSentTogether = (first: Fault, second: Fault) => !first.places.some((place) => second.places.includes(place));

const pairs = faults.flatMap((first, position) =>
  faults
    .slice(position + 1)
    .filter((second) => first !== oversized && canBeSentTogether(first, second))
    .map((second): [string, Fault, Fault] => [`${first.name} wins over ${second.name}`, first, second]),
);

/** All that come behind it, in as few requests as can hold them. */
const behindOversized: Fault[][] = [];
for (const one of faults.slice(faults.indexOf(oversized) + 1)) {
  const group = behindOversized.find((others) => others.every((other) => canBeSentTogether(other, one)));
  if (group === undefined) behindOversized.push([one]);
  else group.push(one);
}

describe('the order of errors', () => {
  let gateway: Harness;

  beforeAll(async () => {
    const poor = { supported_params: { tools: false, vision: false, json_mode: false, json_schema: false } };
    const acme = { auth: { bearer: { env: 'GW_TEST_VARIABLE_NOBODY_SETS' } }, data_policy: { zdr: true } };
    gateway = await startHarness({
      models: { 'acme/base': [{ provider: 'acme', upstream: 'echo', more: poor }], 'acme/nowhere': [] },
      providers: { acme },
      workspace: { data_policy: { zdr: true } },
      moreWorkspaces: [{ id: 'gone', keys: [{ name: 'old', key: revokedKey, status: 'revoked' }] }],
    });
  });
  afterAll(() => gateway.stop());

  async function send(...applied: readonly Fault[]): Promise<Response> {
    const base = { path: '/chat/completions', method: 'POST', key: gateway.key, headers: {}, body: hello('acme/base') };
    const sent: Sent = base;
    for (const { apply } of applied) apply(sent);
    const headers = { authorization: `Bearer ${sent.key}`, ...sent.headers };
    return fetch(gateway.url + sent.path, { method: sent.method, headers, body: JSON.stringify(sent.body) });
  }

  it.each(faults.map((one): [string, Fault] => [one.name, one]))('names each fault alone: %s', async (_name, one) => {
    await expectError(await send(one), one.status, one.code);
  });

  it.each(pairs)('is the documented one: %s', async (_name, first, second) => {
    await expectError(await send(second, first), first.status, first.code);
  });

  it('is that of the size, whatever else a body and its headers hold', async () => {
    for (const others of behindOversized) {
      await expectError(await send(...others, oversized), oversized.status, oversized.code);
    }
  });

  it('calls no provider for any of them', () => {
    expect(gateway.simulator.calls).toHaveLength(0);
  });
});
