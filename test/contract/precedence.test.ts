// The precedence of errors. Only the last check refuses the base request; every fault is sent alone and together with
// every later one, and the earlier must win. The fault that sends megabytes is combined with as many later ones as fit
// together.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { errorCatalogue, errorFamilies } from '../../shared/errors/index.ts';
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
  /** Two faults that write to the same place cannot be sent together. */
  readonly places: readonly string[];
  readonly apply: (request: Sent) => void;
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
  fault('unknown path', 404, 'not_found', ['path'], (request) => {
    request.path = '/nothing';
  }),
  fault('other method', 405, 'method_not_allowed', ['method'], (request) => {
    request.method = 'PUT';
  }),
  fault('malformed key', 401, 'UNAUTHORIZED', ['key'], (request) => {
    request.key = `${request.key}x`;
  }),
  oversized,
  fault('unknown key', 401, 'UNAUTHORIZED', ['key'], (request) => {
    request.key = newKey();
  }),
  fault('revoked key', 401, 'UNAUTHORIZED', ['key', 'alias'], (request) => {
    request.key = revokedKey;
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
  // No other field is checked for a model whose name begins like an alias of a function.
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

/** All later faults, in as few requests as possible. */
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

  async function send(...faults: readonly Fault[]): Promise<Response> {
    const base = { path: '/chat/completions', method: 'POST', key: gateway.key, headers: {}, body: hello('acme/base') };
    const request: Sent = base;
    for (const { apply } of faults) apply(request);
    const headers = { authorization: `Bearer ${request.key}`, ...request.headers };
    return fetch(gateway.url + request.path, { method: request.method, headers, body: JSON.stringify(request.body) });
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

/** The specification's tables, row by row: status and code. */
const gatewayRows = `
400 invalid_request
400 unknown_model
400 model_not_routable
400 invalid_sort
400 feature_unsupported
400 invalid_response_schema
400 schema_streaming_unsupported
400 invalid_correlation
401 UNAUTHORIZED
402 PAYMENT_REQUIRED
402 price_cap_exceeded
404 preset_not_found
409 idempotency_conflict
409 duplicate_span_id
422 no_policy_compliant_provider
422 data_policy_loosening_forbidden
422 structured_output_unsupported
422 schema_validation_failed
429 rate_limited
502 no_available_provider
503 RATE_LIMITER_UNAVAILABLE
503 provider_not_configured
504 request_deadline_exceeded`;
const functionRows = `
400 invalid_function_alias
400 invalid_function_request
400 function_requires_managed_funding
401 api_key_revoked
402 spend_limit_exceeded
404 function_not_found
404 revision_not_available
409 function_disabled
409 qualification_expired
409 idempotency_conflict
409 execution_in_progress
409 execution_disabled
413 request_too_large
429 api_key_rate_limit
429 execution_capacity
502 execution_failed
504 execution_deadline_exceeded`;
const byokRows = `
400 byok_provider_required
400 byok_credential_unsupported
400 byok_credential_conflict
402 byok_budget_exceeded
403 byok_not_enabled
422 byok_no_eligible_connection
422 byok_budget_unquotable`;
const additionRows = `
403 forbidden
412 precondition_failed
404 not_found
405 method_not_allowed
500 internal_error`;

const rowsOf = (table: string): string[] => table.trim().split('\n');
const rowsIn = (family: Record<string, { status: number }>): string[] =>
  Object.entries(family).map(([code, { status }]) => `${status} ${code}`);

describe('the table of errors', () => {
  it('has the 47 rows of the specification', () => {
    expect([gatewayRows, functionRows, byokRows].flatMap(rowsOf)).toHaveLength(47);
  });

  it.each([
    ['gateway', gatewayRows, errorFamilies.gateway],
    // One row is in both tables with the same status; the catalogue has it once.
    [
      'functions',
      functionRows,
      { ...errorFamilies.functions, idempotency_conflict: errorCatalogue.idempotency_conflict },
    ],
    ['byok', byokRows, errorFamilies.byok],
    ['additions', additionRows, errorFamilies.additions],
  ])('is equal to the one of the specification, letter case included: %s', (_family, table, family) => {
    expect(rowsIn(family).toSorted()).toEqual(rowsOf(table).toSorted());
  });

  it('has no other code', () => {
    const all = [gatewayRows, functionRows, byokRows, additionRows].flatMap(rowsOf);
    expect(rowsIn(errorCatalogue).toSorted()).toEqual([...new Set(all)].toSorted());
  });

  it('gives every code a message of its own for people', () => {
    const messages = Object.values(errorCatalogue).map(({ message }) => message);
    expect(messages.filter((message) => !/^\w.{10,}\.$/.test(message))).toEqual([]);
    expect(new Set(messages).size).toBe(messages.length);
  });
});
