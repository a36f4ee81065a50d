// The bodies of calls, if a workspace stores them: which bodies, for whom, for how long, and that no call waits for a
// write.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { dayMs } from '../../shared/foundation/time/index.ts';
import { type BlobStore, memoryBlobs } from '../../shared/storage/blobs/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { ask } from '../support/function-calls.ts';
import { newKey, promptFunction } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { type OperatorRequests, operatorOf } from '../support/operator-requests.ts';

const keys = { narrow: newKey(), none: newKey(), quiet: newKey(), private: newKey(), tenth: newKey() };
const names: string[] = [];
const blobs = memoryBlobs();
/** The storage's write, which a test may replace. */
let put: BlobStore['put'] = blobs.put;
let clock: ManualClock;
let harness: Harness;
let owner: OperatorRequests;

beforeAll(async () => {
  clock = manualClock();
  const on = (provider: string, upstream = 'echo') => [{ provider, upstream }];
  harness = await startHarness({
    clock,
    providers: {
      all: {
        apis: ['chat-completions'],
        accepts_byok_header: true,
        data_policy: { zdr: true },
      },
    },
    models: {
      'all/echo': on('all'),
      'all/request': on('all', 'echo-request'),
      'all/cut': on('all', 'error-after-chunks:2'),
      'all/huge': on('all', 'huge:900000'),
      'all/failing': on('all', 'error-500'),
      'all/rejected': on('all', 'error-400'),
    },
    workspace: {
      content_log: { keep: '30d' },
      features: { byok: true, presets: true },
      presets: [{ slug: 'cold', versions: [{ version: '1', config: { temperature: 0.25 } }] }],
      functions: [promptFunction('label', 'all/echo')],
    },
    moreWorkspaces: [
      { id: 'quiet', credit_usd: '10', keys: [{ name: 'k', key: keys.quiet }] },
      {
        id: 'private',
        credit_usd: '10',
        content_log: { keep: '30d' },
        data_policy: { zdr: true },
        keys: [{ name: 'k', key: keys.private }],
      },
      {
        id: 'other',
        credit_usd: '10',
        content_log: { keep: '90d', share: 0.5 },
        keys: [
          { name: 'narrow', key: keys.narrow, content_log: { keep: '1d' } },
          { name: 'none', key: keys.none, content_log: { share: 0 } },
        ],
      },
    ],
    replace: () => ({
      blobs: {
        ...blobs,
        put: (name: string, ...rest) => {
          names.push(name);
          return put(name, ...rest);
        },
      },
    }),
  });
  owner = await operatorOf(harness, 'olga');
});
afterAll(() => harness.stop());
beforeEach(async () => {
  await harness.settled();
  harness.simulator.clear();
  names.length = 0;
  put = blobs.put;
});

const as = (key: string) => ({ authorization: `Bearer ${key}` });

/** Returns the call, its record and its stored bodies, after it has settled. */
async function contentAfter(call: Promise<Response>) {
  const response = await call;
  const text = await response.text();
  await harness.settled();
  const id = response.headers.get('x-request-id') ?? '';
  const record = (await owner.get(`/calls/${id}`)).body.data;
  const content = await owner.get(`/calls/${id}/content`);
  return { response, text, id, record, content, data: content.body.data };
}

describe('the bodies of a call', () => {
  it('are those of its error if it failed at its providers', async () => {
    const { response, text, data } = await contentAfter(harness.post(hello('all/failing')));
    expect(data.answer).toEqual({ status: response.status, body: text });
    const rejected = await contentAfter(harness.post(hello('all/rejected'), { 'x-gw-error-format': 'openai' }));
    expect(rejected.data.answer).toEqual({ status: 400, body: rejected.text });
  });

  it('are those of a stream up to where it broke, with its error', async () => {
    const { text, data, record } = await contentAfter(harness.post(hello('all/cut', { stream: true })));
    expect(record.outcome).toBe('cut');
    expect(data.answer).toEqual({ status: 200, body: text });
    expect(text).toContain('"error"');
  });

  it('are the request without the preset, which the client did not send', async () => {
    const request = hello('all/echo', { preset: 'cold' });
    const { data } = await contentAfter(harness.post(request));
    expect(JSON.parse(data.request)).toEqual(request);
    expect(harness.simulator.calls.at(-1)?.body).toMatchObject({ temperature: 0.25 });
  });

  it('of a function are its input, its answer and what its model was sent', async () => {
    const { text, data, record } = await contentAfter(harness.post(ask('label', 'a ticket')));
    expect(record).toMatchObject({ function_id: 'label', content: { state: 'kept' } });
    expect(data).toMatchObject({ answer: { status: 200, body: text } });
    expect(data.request).toContain('gw/function/label');
    expect(data.sent).toMatchObject([{ provider: 'all', format: 'chat-completions' }]);
  });

  it('of a replay are those of the call whose answer it got, stored once', async () => {
    const retry = { 'idempotency-key': 'the-same' };
    const first = await contentAfter(harness.post(hello('all/echo'), retry));
    const second = await contentAfter(harness.post(hello('all/echo'), retry));
    expect(second.record).toMatchObject({ replay_of: first.id, content: null });
    expect(second.data).toEqual(first.data);
    expect(names).toEqual([`content-30d-${first.id}`]);
  });

  it('of an answer from the cache are its own', async () => {
    const request = hello('all/echo', { cache: { enabled: true }, user: 'first' });
    await contentAfter(harness.post(request));
    const { record, data, text, id } = await contentAfter(harness.post(request));
    expect(record).toMatchObject({ cache_hit: true, content: { state: 'kept', keep: '30d', cut: false } });
    expect(data).toMatchObject({ id, answer: { status: 200, body: text }, sent: [] });
  });

  it('end at 4 MiB, and say so; the call itself is whole', async () => {
    const request = hello('all/huge', { messages: [{ role: 'user', content: 'x'.repeat(4_000_000) }] });
    const { response, text, data, record } = await contentAfter(harness.post(request));
    expect([response.status, text.length > 900_000]).toEqual([200, true]);
    expect(record.content).toEqual({ state: 'kept', keep: '30d', cut: true });
    expect(data).toMatchObject({ cut: true, request: JSON.stringify(request) });
    expect(text.startsWith(data.answer.body)).toBe(true);
    const bytes = Buffer.byteLength(data.request) + Buffer.byteLength(data.answer.body);
    expect(bytes).toBeLessThanOrEqual(4 * 1024 * 1024);
    expect(bytes).toBeGreaterThan(4 * 1024 * 1024 - 16 * 1024);
  });

  it.each(['byok-key-of-mine', 'sk-proj-a1b2c3d4e5f6g7h8i9j0'])(
    'hold no beginning of a credential that lies across their end: %s',
    async (secret) => {
      // Wherever the stored text ends, one of the two bodies has a credential at that place.
      for (const before of ['', 'x'.repeat(secret.length / 2)]) {
        const content = before + `${secret} `.repeat(2_400_000 / secret.length);
        const request = hello('all/request', { messages: [{ role: 'user', content }], provider: { only: ['all'] } });
        const { data, text } = await contentAfter(harness.post(request, { 'x-byok-key': 'byok-key-of-mine' }));
        expect(text.length).toBeGreaterThan(2_000_000);
        expect(data.cut).toBe(true);
        expect(data.answer.body.length).toBeGreaterThan(1_000);
        expect(data.answer.body.slice(-1_000)).toContain('… ');
        expect(data.answer.body.slice(-1_000)).not.toMatch(/byo|sk-p/);
      }
    },
  );

  it('hold no credential: not the client’s key, not its key of a provider, no key in an address', async () => {
    const secrets = [
      'sk-proj-a1b2c3d4e5f6g7h8i9j0',
      'AIzaSyA-1234567890abcdefghijk',
      'hunter2-pass',
      'byok-key "of-mine"',
    ];
    const content = `${harness.key} ${secrets[0]} https://u:${secrets[2]}@host.example/x?key=${secrets[1]}&a=1 ${secrets[3]}`;
    const byok = { 'x-byok-key': 'byok-key-of-mine', 'x-secret': 'a-header' };
    const request = hello('all/echo', {
      messages: [{ role: 'user', content: `${content} byok-key-of-mine` }],
      provider: { only: ['all'] },
    });
    const { data, response } = await contentAfter(harness.post(request, byok));
    expect(response.status).toBe(200);
    const text = JSON.stringify(data);
    for (const secret of [harness.key, ...secrets.slice(0, 3), 'byok-key-of-mine', 'a-header'])
      expect(text).not.toContain(secret);
    expect(text).toContain('host.example/x?key=');
    expect(text).toContain('&a=1');
  });
});

describe('no bodies are kept', () => {
  const nothing = async (call: Promise<Response>) => {
    const { record, content } = await contentAfter(call);
    expect([record.content, content.status, names]).toEqual([null, 404, []]);
    return content.body.message;
  };

  it('of a workspace without a content log', async () => {
    await nothing(harness.post(hello('all/echo'), as(keys.quiet)));
  });

  it('under an effective zdr: of the request, or of the workspace', async () => {
    await nothing(harness.post(hello('all/echo', { provider: { zdr: true } })));
    expect(harness.simulator.calls).toHaveLength(1);
    await nothing(harness.post(hello('all/echo'), as(keys.private)));
    expect(harness.simulator.calls).toHaveLength(2);
  });

  it('of a call that was refused before any provider was called', async () => {
    expect(await nothing(harness.post(hello('all/unknown')))).toContain('refused');
  });

  it('of a key whose share is 0', async () => {
    await nothing(harness.post(hello('all/echo'), as(keys.none)));
  });
});

describe('a storage of bodies', () => {
  const lostContent = async (call: Promise<Response>) => {
    const response = await call;
    const text = await response.text();
    expect(response.status).toBe(200);
    return { response, text };
  };

  it('that fails costs a log line and a mark in the record, and the call nothing', async () => {
    put = async () => {
      throw new Error('the bucket is gone');
    };
    const { record, content } = await contentAfter(harness.post(hello('all/echo')));
    expect(record).toMatchObject({ outcome: 'ok', content: { state: 'failed', keep: '30d', cut: false } });
    expect(content).toMatchObject({ status: 404, body: { message: expect.stringContaining('could not be stored') } });
    const lines = harness.logLines.filter((line) => line.includes('content_not_kept'));
    expect(lines).toEqual([expect.stringContaining('"failed_control":"content"')]);
    await expectBalancedBooks(harness);
  });

  it('that hangs delays no answer, and its call is paid and recorded within a bound', async () => {
    const { promise: putSignal, resolve } = Promise.withResolvers<AbortSignal | undefined>();
    put = (_name, _bytes, options) => {
      resolve(options?.signal);
      return new Promise(() => {});
    };
    const { response } = await lostContent(harness.post(hello('all/echo', { stream: true })));
    const signal = await putSignal;
    expect(signal?.aborted).toBe(false);
    clock.advance(3_000);
    await harness.settled();
    expect(signal?.aborted).toBe(true);
    const { body } = await owner.get(`/calls/${response.headers.get('x-request-id')}`);
    expect(body.data).toMatchObject({ outcome: 'ok', content: { state: 'failed' } });
    await expectBalancedBooks(harness);
  });
});

describe('readings', () => {
  it('are for owners, each is a log line with operator and call; others get the right that they need', async () => {
    const { id } = await contentAfter(harness.post(hello('all/echo')));
    const editor = await operatorOf(harness, 'ed', { role: 'editor', workspaces: ['team'] });
    const stranger = await operatorOf(harness, 'eve', { role: 'owner', workspaces: ['quiet'] });
    const viewer = await operatorOf(harness, 'vera', { role: 'viewer', workspaces: 'all' });
    const before = harness.logLines.length;
    const statuses = [];
    for (const one of [owner, editor, stranger, viewer]) statuses.push((await one.get(`/calls/${id}/content`)).status);
    await harness.settled();
    expect(statuses).toEqual([200, 403, 404, 403]);
    const lines = harness.logLines.slice(before).map((line) => JSON.parse(line));
    expect(lines.filter(({ change }) => change === 'content read')).toMatchObject([
      { operator_name: 'olga', change_target: `team/${id}` },
    ]);
  });
});

describe('share and time', () => {
  it('follow from the id of the call, and a key keeps its calls for less', async () => {
    const calls = [];
    for (let at = 0; at < 24; at += 1) calls.push(await contentAfter(harness.post(hello('all/echo'), as(keys.narrow))));
    const shares = calls.map(({ record }) => record.content?.keep);
    expect(new Set(shares)).toEqual(new Set(['1d', undefined]));
    expect(calls.every(({ record, content }) => (record.content === null) === (content.status === 404))).toBe(true);
  });

  it('cannot be read after their time, and the record stays', async () => {
    const { id } = await contentAfter(harness.post(hello('all/echo')));
    clock.advance(30 * dayMs - 60_000);
    expect((await owner.get(`/calls/${id}/content`)).status).toBe(200);
    clock.advance(60_001);
    const over = await owner.get(`/calls/${id}/content`);
    expect([over.status, over.body.message]).toEqual([404, expect.stringContaining('kept for 30d')]);
    expect((await owner.get(`/calls/${id}`)).status).toBe(200);
  });
});
