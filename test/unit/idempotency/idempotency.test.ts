import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { fingerprint as fingerprintOf } from '../../../shared/accounting/idempotency/index.ts';
import { type Claimant, judge } from '../../../shared/accounting/idempotency/record.ts';
import { recordOf } from '../../../shared/accounting/idempotency/record-store.ts';
import { interfaceIds } from '../../../shared/foundation/constants/index.ts';
import { jsonTextOf, parseJson } from '../../../shared/protocol/wire/index.ts';
import type { Item } from '../../../shared/storage/store/index.ts';
import { fingerprintNamed } from '../../support/fingerprint.ts';

const body = { model: 'acme/large-1', messages: [{ role: 'user', content: 'hi' }] };
type SentHeaders = Parameters<typeof fingerprintOf>[2];
const headers: SentHeaders = {
  'x-gw-trace-id': ['trace'],
  'x-gw-span-id': ['span'],
  'x-gw-parent-span-id': ['parent'],
  'x-gw-session-id': ['session'],
  traceparent: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
  'x-byok-key': ['secret'],
};
const fingerprint = (body: unknown, headersSent: SentHeaders): string =>
  fingerprintOf('chat-completions', jsonTextOf(body), headersSent).hash;
const plain = fingerprint(body, headers);

describe('a fingerprint', () => {
  it('is another one on every interface, so that none replays what another has answered', () => {
    const all = interfaceIds.map((id) => fingerprintOf(id, jsonTextOf(body), headers).hash);
    expect(new Set(all).size).toBe(interfaceIds.length);
  });

  it('is not changed by headers that differ from try to try', () => {
    const retry = {
      ...headers,
      authorization: ['Bearer other'],
      'idempotency-key': ['k'],
      'x-stainless-retry-count': ['1'],
      'user-agent': ['other'],
      'x-title': ['other'],
      // A client with tracing sends a new parent id and new flags with each try.
      traceparent: ['01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b8-00'],
    };
    expect(fingerprint(body, retry)).toBe(plain);
  });

  it('tells a value under one header from the same value under another', () => {
    expect(fingerprint(body, { 'x-gw-trace-id': ['x'] })).not.toBe(fingerprint(body, { 'x-gw-span-id': ['x'] }));
  });

  it('counts integers beyond 2^53 to the last digit', () => {
    const [a, b] = [parseJson('{"seed":9007199254740993}'), parseJson('{"seed":9007199254740992}')];
    expect(fingerprint(a, {})).not.toBe(fingerprint(b, {}));
  });

  it('is equal exactly for equal bodies', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const isSame = fingerprint(a, headers) === fingerprint(b, headers);
        expect(isSame).toBe(fc.stringify(sorted(a)) === fc.stringify(sorted(b)));
      }),
    );
  });
});

/** Returns the JSON of a value with sorted fields. */
const sorted = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_name, member) =>
    member !== null && typeof member === 'object' && !Array.isArray(member)
      ? { members: Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)) }
      : member,
  );

describe('the judgement of a record', () => {
  const nowMs = 1_800_000_000_500;
  const claimant: Claimant = { fingerprint: fingerprintNamed('mine'), owner: 'me', nowMs };

  it('compares what the version that stored it makes of the inputs', () => {
    const storedItem = {
      pk: 'p',
      state: 'done',
      fingerprint: 'first',
      owner: 'other',
      expires_at_epoch_seconds: Math.ceil(nowMs / 1_000) + 1,
    };
    const result = { status: 200, headers: {}, body_sha256: 'h', body_blob_key: 'b' };
    const hashes: Record<number, string> = { 1: 'first', 2: 'second' };
    const upgraded = { ...claimant, fingerprint: { version: 2, hash: 'second', hashOf: (at: number) => hashes[at] } };
    const verdict = (more: Item) => judge(recordOf({ ...storedItem, result, ...more }), upgraded);
    expect(verdict({ fingerprint_version: 1 })).toBe('done');
    expect(verdict({ fingerprint: 'second', fingerprint_version: 2 })).toBe('done');
    expect(verdict({ fingerprint_version: 2 })).toBe('conflict');
    // A newer release, which was rolled back, wrote this version.
    expect(verdict({ fingerprint_version: 3 })).toBe('conflict');
  });
});
