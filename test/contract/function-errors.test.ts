// Every error code of functions through the front door, and which code has precedence. The base call fails at its
// provider, which is the last possible failure; every fault is sent alone and together with every later one.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { functionBodyMaxBytes } from '../../shared/foundation/constants/index.ts';
import { expectError } from '../support/expect-error.ts';
import { ask, modelsFor, prompt, revision } from '../support/function-calls.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';

interface Sent {
  key: 'plain' | 'revoked' | 'rateLimited' | 'limited';
  workspace: 'team' | 'poor' | 'capped' | 'full';
  door: 'open' | 'off';
  alias: string;
  model: string | undefined;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

interface Fault {
  readonly name: string;
  readonly status: number;
  readonly code: string;
  /** Two faults that write to the same place cannot be sent together. */
  readonly places: readonly (keyof Sent | 'padding' | 'idempotency' | 'messages')[];
  readonly apply: (request: Sent) => void;
}

const fault = (name: string, status: number, code: string, places: Fault['places'], apply: Fault['apply']): Fault => ({
  name,
  status,
  code,
  places,
  apply,
});
const withKey = (key: Sent['key']) => (request: Sent) => Object.assign(request, { key });
const withAlias = (alias: string) => (request: Sent) => Object.assign(request, { alias });
const withHeader = (name: string, value: string) => (request: Sent) =>
  Object.assign(request.headers, { [name]: value });
const withMember = (member: object) => (request: Sent) => Object.assign(request.body, member);
const withWorkspace = (workspace: Sent['workspace']) => (request: Sent) => Object.assign(request, { workspace });

const usedKey = '0d1f4c1e-7c1a-4d0a-9e0b-6c7a5d3b2a19';
const usedSpan = 'a-span-that-is-used';
const brokenFormat = { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: 5 } } };
const padding = 'x'.repeat(functionBodyMaxBytes);

const faults: readonly Fault[] = [
  fault('revoked key', 401, 'api_key_revoked', ['key'], withKey('revoked')),
  fault('rateLimited key', 429, 'api_key_rate_limit', ['key'], withKey('rateLimited')),
  fault('malformed trace', 400, 'invalid_correlation', [], withHeader('x-gw-trace-id', 'no spaces allowed')),
  fault('wrong type', 400, 'invalid_request', ['messages'], withMember({ messages: 'Hello' })),
  fault('no alias form', 400, 'invalid_function_alias', ['model', 'alias'], (request) => {
    request.model = 'gw/function/a/b';
  }),
  fault('no UUID', 400, 'invalid_function_alias', ['idempotency'], withHeader('idempotency-key', 'order-17')),
  fault('too large', 413, 'request_too_large', ['padding'], withMember({ metadata: { padding } })),
  fault('other inputs', 409, 'idempotency_conflict', ['idempotency'], withHeader('idempotency-key', usedKey)),
  fault('used span', 409, 'duplicate_span_id', [], withHeader('x-gw-span-id', usedSpan)),
  fault('byok key', 400, 'function_requires_managed_funding', ['headers'], withHeader('x-byok-key', 'sk-own')),
  fault('execution off', 409, 'execution_disabled', ['door', 'workspace'], (request) => {
    request.door = 'off';
  }),
  fault('an unknown function', 404, 'function_not_found', ['alias'], withAlias('nobody')),
  fault('disabled', 409, 'function_disabled', ['alias'], withAlias('off@old')),
  fault('draft', 404, 'revision_not_available', ['alias'], withAlias('failing@draft')),
  fault('expired', 409, 'qualification_expired', ['alias'], withAlias('failing@old')),
  fault('option', 400, 'invalid_function_request', ['body'], withMember({ top_p: 1 })),
  // A fixed field is refused for being sent at all: a wrong type has no code of its own, even if the alias is unknown.
  fault('option of another type', 400, 'invalid_function_request', ['body'], withMember({ temperature: 'hot' })),
  fault('sort of no kind', 400, 'invalid_function_request', ['body'], withMember({ provider: { sort: 'cheapest' } })),
  fault('broken schema', 400, 'invalid_function_request', ['body'], withMember({ ...brokenFormat, stream: true })),
  fault('no provider serves', 502, 'execution_failed', ['alias'], withAlias('unserved')),
  fault('key without money', 402, 'spend_limit_exceeded', ['key'], withKey('limited')),
  fault('no credit', 402, 'PAYMENT_REQUIRED', ['workspace'], withWorkspace('poor')),
  fault('spend limit of the workspace', 402, 'PAYMENT_REQUIRED', ['workspace'], withWorkspace('capped')),
  fault('no slot', 429, 'execution_capacity', ['workspace'], withWorkspace('full')),
];

const pairs = faults.flatMap((first, position) =>
  faults
    .slice(position + 1)
    .filter((second) => !first.places.some((place) => second.places.includes(place)))
    .map((second): [string, Fault, Fault] => [`${first.name} wins over ${second.name}`, first, second]),
);

const keys = ['plain', 'revoked', 'rateLimited', 'limited'] as const;
const workspaces = ['team', 'poor', 'capped', 'full'] as const;
const keyOf = new Map(workspaces.flatMap((id) => keys.map((name) => [`${id} ${name}`, newKey()])));

const keyMembers = {
  plain: {},
  revoked: { status: 'revoked' },
  rateLimited: { rpm: 1 },
  limited: { spend_limit_usd: '0' },
};
const workspaceMembers = {
  team: {},
  poor: { credit_usd: '0' },
  capped: { spend_limit_usd: '0' },
  full: { function_concurrency: 1 },
};

const life = (state: string, expires_at: string | null = null) => ({ state, expires_at, model: 'acme/error-500' });
const versions = [
  revision(life('activated')),
  revision({ id: 'draft', ...life('draft') }),
  revision({ id: 'old', ...life('activated', '2020-01-01T00:00:00Z') }),
];
const functions = [
  prompt('failing', {}, { revisions: versions }),
  prompt('off', {}, { revisions: versions, status: 'disabled' }),
  prompt('unserved', { model: 'acme/nowhere' }),
  prompt('waiting', { model: 'acme/silent' }),
];

const fileParts = {
  models: {
    ...modelsFor(['error-500', 'silent']),
    'acme/nowhere': [],
    'acme/free': [
      {
        provider: 'acme',
        upstream: 'echo',
        more: { input_price_per_million: '0', output_price_per_million: '0' },
      },
    ],
  },
  moreWorkspaces: workspaces.map((id) => ({
    id,
    credit_usd: '10',
    functions,
    keys: keys.map((name) => ({ name, key: keyOf.get(`${id} ${name}`), ...keyMembers[name] })),
    ...workspaceMembers[id],
  })),
  workspace: { id: 'nobody' },
};

const authorization = (workspace: Sent['workspace'], key: Sent['key'] = 'plain') => ({
  authorization: `Bearer ${keyOf.get(`${workspace} ${key}`)}`,
});

describe('a function call', () => {
  let harness: Harness;
  let off: Harness;
  const client = new AbortController();

  beforeAll(async () => {
    // The clock stands still: a minute of a key's requests never ends, and a running call goes on running.
    const clock = manualClock();
    [harness, off] = await Promise.all([
      startHarness({ clock, ...fileParts }),
      startHarness({ clock, ...fileParts, service: { function_execution: 'disabled' } }),
    ]);
    for (const workspace of workspaces) {
      for (const one of [harness, off]) {
        await one.post(ask('nobody'), authorization(workspace, 'rateLimited'));
        await takeSpan(one, workspace);
        const headers = { ...authorization(workspace), 'idempotency-key': usedKey };
        expect((await one.post(hello('acme/free'), headers)).status).toBe(200);
      }
    }
    // The only slot of a workspace is in use.
    const waiting = harness.post(ask('waiting'), authorization('full'), client.signal);
    waiting.catch(() => {});
    await harness.simulator.until((calls) => calls.some(({ model }) => model === 'silent'));
    for (const one of [harness, off]) one.simulator.clear();
  });
  afterAll(async () => {
    client.abort();
    await Promise.all([harness.stop(), off.stop()]);
  });

  /** Uses up a span id: a successful call keeps its span id. */
  const takeSpan = (one: Harness, workspace: Sent['workspace']) =>
    one.post(hello('acme/free'), { ...authorization(workspace), 'x-gw-span-id': usedSpan });

  async function send(...faults: readonly Fault[]): Promise<Response> {
    const request: Sent = {
      key: 'plain',
      workspace: 'team',
      door: 'open',
      alias: 'failing',
      model: undefined,
      headers: {},
      body: {},
    };
    for (const { apply } of faults) apply(request);
    const body = ask(request.alias, 'Hello', request.body);
    if (request.model !== undefined) body.model = request.model;
    const headers = { ...authorization(request.workspace, request.key), ...request.headers };
    return (request.door === 'open' ? harness : off).post(body, headers);
  }

  it.each(faults.map((one): [string, Fault] => [one.name, one]))('names each fault: %s', async (_name, one) => {
    await expectError(await send(one), one.status, one.code);
  });

  it.each(pairs)('names the first of two: %s', async (_name, first, second) => {
    await expectError(await send(second, first), first.status, first.code);
  });

  it('reaches no provider with any of them', () => {
    expect(harness.simulator.calls).toEqual([]);
    expect(off.simulator.calls).toEqual([]);
  });

  it('that fails at its provider alone is execution_failed', async () => {
    await expectError(await send(), 502, 'execution_failed');
    expect(harness.simulator.calls.map(({ model }) => model)).toEqual(['error-500']);
  });
});
