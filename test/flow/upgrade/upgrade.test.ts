// What the release before has stored still answers: keys of retries and keys of the cache are made as it made them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { sha256Hex } from '../../../shared/foundation/ids/index.ts';
import { packText } from '../../../shared/storage/blobs/index.ts';
import type { Item } from '../../../shared/storage/store/index.ts';
import type { Harness } from '../../support/harness.ts';
import { cachedCalls, keyedCalls, type RecordedCall, send, startRecorded } from './recorded-calls.ts';

interface Recording {
  readonly items: readonly { readonly table: 'idempotency' | 'cache'; readonly item: Item }[];
  readonly answers: Readonly<Record<string, { status: number; contentType: string; sha256: string }>>;
}

const withBytes = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'base64' in value
    ? Uint8Array.from(Buffer.from(value.base64 as string, 'base64'))
    : value;
const recorded = (release: string): Recording =>
  JSON.parse(readFileSync(join(import.meta.dirname, `stored-${release}.json`), 'utf8'), withBytes);

/** Kept for a day at most, so that the recording itself would have expired. */
const ofToday = (item: Item): Item => {
  const endsAtMs = Date.now() + 3_600_000;
  const end = { expires_at_epoch_seconds: Math.ceil(endsAtMs / 1_000) };
  return { ...item, ...end, ...('expires_at_ms' in item ? { expires_at_ms: endsAtMs } : {}) };
};

describe.each(['b66f7ca'])('what %s has stored', (release) => {
  const { items, answers } = recorded(release);
  let gateway: Harness;
  beforeAll(async () => {
    gateway = await startRecorded();
    for (const { table, item } of items) await gateway.testStore.store.put({ table, item: ofToday(item) });
  });
  afterAll(() => gateway.stop());

  const again = async (kind: string, call: RecordedCall) => {
    const answer = await send(gateway, call);
    const { status, contentType } = answer;
    const told = { status, contentType, sha256: sha256Hex(answer.text) };
    // On a failure the text says more than its hash.
    expect([kind, call.name, status === 200 ? told : answer.text]).toEqual([
      kind,
      call.name,
      answers[`${kind} ${call.name}`],
    ]);
    return answer.headers;
  };

  it('is replayed byte for byte under its Idempotency-Key, on every interface, and nothing is called or charged', async () => {
    const before = await gateway.credit();
    for (const call of keyedCalls) expect((await again('keyed', call)).get('idempotent-replayed')).toBe('true');
    await gateway.settled();
    expect(gateway.simulator.calls).toEqual([]);
    expect(await gateway.credit()).toEqual(before);
    // It was stored in the headers of the answer alone.
    const served = (await gateway.records()).map(({ modelServed, provider }) => [modelServed, provider]);
    const vectors = keyedCalls.filter(({ path }) => path === '/embeddings');
    expect(served).toHaveLength(keyedCalls.length);
    expect(served.filter((by) => by[0] === 'acme/vectors' && by[1] === 'acme')).toHaveLength(vectors.length);
    expect(served.filter((by) => by[0] === 'acme/echo' && by[1] === 'acme')).toHaveLength(
      keyedCalls.length - vectors.length,
    );
  });

  it('is a conflict for another body under the same Idempotency-Key, as it was', async () => {
    for (const call of keyedCalls) {
      const other = await send(gateway, { ...call, text: call.text.replace('Hello', 'Goodbye') });
      expect([call.name, other.status]).toEqual([call.name, 409]);
    }
    expect(gateway.simulator.calls).toEqual([]);
  });

  it('is found in the response cache, on every interface, and no provider is called', async () => {
    for (const call of cachedCalls) expect((await again('cached', call)).get('x-gw-cache')).toBe('HIT');
    expect(gateway.simulator.calls).toEqual([]);
  });

  it('is as if it were not there where this release cannot read it: the provider is asked', async () => {
    const stored = items.filter(({ table }) => table === 'cache');
    const unreadable = await packText(
      JSON.stringify({
        status: 200,
        content: { kind: 'json', text: '{"unheard":"of"}' },
        provider: 'acme',
        model: 'acme/echo',
      }),
    );
    for (const { table, item } of stored) {
      const answer = { answer_gzip: unreadable.bytes, answer_sha256: unreadable.sha256 };
      await gateway.testStore.store.put({ table, item: { ...ofToday(item), ...answer } });
    }
    for (const call of cachedCalls) {
      const { status, headers } = await send(gateway, call);
      expect([call.name, status, headers.get('x-gw-cache')]).toEqual([call.name, 200, 'MISS']);
    }
    expect(gateway.simulator.calls).toHaveLength(cachedCalls.length);
  });
});
