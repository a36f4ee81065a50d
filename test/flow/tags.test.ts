// Tags: what a call was for, told by its client and by its key, and who overrules whom.
import { request as httpRequest } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { formatTags, readTags } from '../../shared/protocol/wire/index.ts';
import { prompt } from '../support/function-calls.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';

const [searchKey, plainKey] = [newKey(), newKey()];
const as = (key: string) => ({ authorization: `Bearer ${key}` });

let harness: Harness;
const parts = (tags: Record<string, string>) => ({
  models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] },
  workspace: {
    keys: [
      { name: 'search', key: searchKey, tags },
      { name: 'plain', key: plainKey },
    ],
    functions: [prompt('echoed')],
  },
});
beforeAll(async () => {
  harness = await startHarness(parts({ team: 'search', 'cost.center': '4711' }));
});
afterAll(() => harness?.stop());

interface Found {
  readonly status: number;
  readonly id: string;
  readonly tags: unknown;
  /** In its log line. */
  readonly line: string | undefined;
}

/** What the gateway remembers of one call. */
async function tagsOf(
  key: string,
  headers: Record<string, string>,
  body: unknown = hello('acme/echo'),
): Promise<Found> {
  const response = await harness.post(body, { ...as(key), ...headers });
  await response.text();
  await harness.settled();
  const id = response.headers.get('x-request-id') ?? '';
  const generation = await harness.get(`/generation?id=${id}`, as(key));
  const { data } = (await generation.json()) as { data?: { tags: unknown } };
  const line = harness.logLines.find((one) => one.includes(id) && one.includes('"event":"request"'));
  return { status: response.status, id, tags: data?.tags, line: (JSON.parse(line ?? '{}') as { tags?: string }).tags };
}

describe('tags', () => {
  it('of a request stand in its record and in its log line, and nothing of them reaches the provider', async () => {
    harness.simulator.clear();
    const sent = { 'x-gw-tags': 'team=canary-team, feature=canary-feature' };
    expect(await tagsOf(plainKey, sent)).toMatchObject({
      status: 200,
      tags: { team: 'canary-team', feature: 'canary-feature' },
      line: 'feature=canary-feature,team=canary-team',
    });
    const [call] = harness.simulator.calls;
    expect(call?.status).toBe(200);
    expect(JSON.stringify(call)).not.toMatch(/canary|x-gw-tags/i);
  });

  it('of a key are on each of its calls, and a request that says otherwise is overruled', async () => {
    const own = { team: 'search', 'cost.center': '4711' };
    expect(await tagsOf(searchKey, {})).toMatchObject({ tags: own, line: 'cost.center=4711,team=search' });
    const spoofed = { 'x-gw-tags': 'team=other,feature=rerank' };
    const told = { ...own, feature: 'rerank' };
    expect(await tagsOf(searchKey, spoofed)).toMatchObject({ status: 200, tags: told });
    expect(await tagsOf(searchKey, spoofed, hello('acme/echo', { stream: true }))).toMatchObject({ tags: told });
    expect(await tagsOf(searchKey, spoofed, hello('gw/function/echoed'))).toMatchObject({ status: 200, tags: told });
    const refused = await tagsOf(searchKey, spoofed, hello('acme/none'));
    expect(refused).toMatchObject({ status: 400, tags: told, line: formatTags(told) });
  });

  it('are those of the retry where its answer is a replay, and other tags are no conflict', async () => {
    const name = { 'idempotency-key': 'told-twice' };
    const first = await tagsOf(plainKey, { ...name, 'x-gw-tags': 'run=1' });
    harness.simulator.clear();
    const second = await tagsOf(plainKey, { ...name, 'x-gw-tags': 'run=2' });
    expect([first, second]).toMatchObject([
      { status: 200, tags: { run: '1' } },
      { status: 200, tags: { run: '2' }, line: 'run=2' },
    ]);
    expect(harness.simulator.calls).toEqual([]);
    expect((await harness.records()).find(({ executionId }) => executionId === second.id)?.replayOf).toBe(first.id);
  });

  it('are no part of what a cached answer is found by', async () => {
    const body = hello('acme/echo', { cache: { enabled: true, namespace: 'tags' } });
    await tagsOf(plainKey, { 'x-gw-tags': 'run=1' }, body);
    harness.simulator.clear();
    expect(await tagsOf(plainKey, { 'x-gw-tags': 'run=2' }, body)).toMatchObject({ status: 200, tags: { run: '2' } });
    expect(harness.simulator.calls).toEqual([]);
  });

  it('of a key count from the next call on where they are changed, also in a gateway that knows the key', async () => {
    await tagsOf(searchKey, {});
    await harness.apply(parts({ team: 'ads' }));
    expect(await tagsOf(searchKey, { 'x-gw-tags': 'cost.center=1' })).toMatchObject({
      tags: { team: 'ads', 'cost.center': '1' },
    });
    await harness.apply(parts({}));
    expect(await tagsOf(searchKey, { 'x-gw-tags': 'team=own' })).toMatchObject({ tags: { team: 'own' } });
  });

  it('are eight at most in a request, beside those of its key', async () => {
    const pairs = (count: number) => Array.from({ length: count }, (_, at) => `n${at}=v`).join(',');
    await harness.apply(parts({ team: 'search' }));
    const found = await tagsOf(searchKey, { 'x-gw-tags': pairs(8) });
    expect([found.status, Object.keys(found.tags as object).length]).toEqual([200, 9]);
    expect((await tagsOf(searchKey, { 'x-gw-tags': pairs(9) })).status).toBe(400);
  });

  it('that name a member of every object are tags like any other', async () => {
    expect(await tagsOf(plainKey, { 'x-gw-tags': 'constructor=a,prototype=b' })).toMatchObject({
      tags: { constructor: 'a', prototype: 'b' },
    });
  });

  it('that hold an API key keep nothing of it', async () => {
    const sent = { 'x-gw-tags': 'key=sk-proj-0123456789abcdefghij' };
    expect(await tagsOf(plainKey, sent)).toMatchObject({ tags: { key: 'sk-…' }, line: 'key=sk-…' });
  });

  it.each([
    ['', 'nothing'],
    ['team', 'no value'],
    ['team=', 'an empty value'],
    ['=search', 'no name'],
    ['Team=search', 'a capital'],
    ['1team=search', 'a digit first'],
    ['team=a=b', 'an equals sign in a value'],
    ['team=a b', 'a space in a value'],
    ['team =a', 'a space before the equals sign'],
    ['team=a ,run=1', 'a space before a comma'],
    ['team=a,', 'a comma at the end'],
    ['team=a,team=b', 'a name twice'],
    ['team=caf\u00e9', 'a letter beyond ASCII'],
    [`t${'e'.repeat(32)}=a`, 'a name of 33 characters'],
    [`team=${'a'.repeat(65)}`, 'a value of 65 characters'],
  ])('such as "%s" (%s) are invalid_request, and no provider is called', async (text) => {
    harness.simulator.clear();
    const response = await harness.post(hello('acme/echo'), { ...as(searchKey), 'x-gw-tags': text });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: 'invalid_request', message: expect.stringContaining('x-gw-tags') },
    ]);
    await harness.settled();
    expect(harness.simulator.calls).toEqual([]);
    // Those of its key stay.
    const line = harness.logLines.find((one) => one.includes(response.headers.get('x-request-id') ?? '?'));
    expect(line).toContain('"tags":"team=search"');
  });

  it('in two headers are invalid_request', async () => {
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    const headers = { ...as(plainKey), 'content-type': 'application/json', 'x-gw-tags': ['a=1', 'b=2'] };
    const outgoing = httpRequest(`${harness.url}/chat/completions`, { method: 'POST', headers }, (incoming) => {
      incoming.resume();
      resolve(incoming.statusCode);
    });
    outgoing.end(JSON.stringify(hello('acme/echo')));
    expect(await promise).toBe(400);
  });

  it('are read as they were written, whatever their values', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9_.-]{0,31}$/);
    const value = fc.stringMatching(/^[\x21-\x2b\x2d-\x3c\x3e-\x7e]{1,64}$/);
    fc.assert(
      fc.property(fc.dictionary(name, value, { minKeys: 1 }), (tags) => {
        expect(readTags(formatTags(tags))).toEqual({ ...tags });
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => void readTags(text)));
  });
});
