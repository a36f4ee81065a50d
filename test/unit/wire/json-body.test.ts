import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { readJsonBody, readRequestBody } from '../../../shared/protocol/wire/index.ts';
import { findBoundsFault } from '../../../shared/protocol/wire/json-bounds.ts';

describe('the body of a request', () => {
  const read = (text: string) => readJsonBody(Buffer.from(text));

  const kindOf = (text: string) => read(text).kind;
  const listed = (count: number) => `[${new Array(count).fill(0)}]`;

  it('may nest 64 deep and no deeper, however long a string of brackets it holds', () => {
    const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
    expect([kindOf(nested(64)), kindOf(nested(65))]).toEqual(['object', 'unreadable']);
    expect(kindOf(`{"a":"${'[{'.repeat(10_000)}"}`)).toBe('object');
    expect(kindOf(`{"a":"\\\\\\"${'['.repeat(10_000)}"}`)).toBe('object');
    expect(kindOf(`{"a":[${'[],'.repeat(10_000)}1]}`)).toBe('object');
  });

  it('may hold 100,000 values and no more, itself among them', () => {
    expect(kindOf(`{"a":${listed(99_998)}}`)).toBe('object');
    expect(kindOf(`{"a":${listed(99_999)}}`)).toBe('unreadable');
    const members = (count: number) => `{${Array.from({ length: count }, (_, index) => `"${index}":{}`)}}`;
    expect([kindOf(members(99_999)), kindOf(members(100_000))]).toEqual(['object', 'unreadable']);
    const empty = (count: number) => `{"a":[${new Array(count).fill('[ ]')}]}`;
    expect([kindOf(empty(99_998)), kindOf(empty(99_999))]).toEqual(['object', 'unreadable']);
  });

  it('may hold lists of any length, but of 256 items inside the members of the gateway', () => {
    const request = (text: string) => readRequestBody(Buffer.from(text));
    expect(request(`{"provider":{"only":${listed(256)}}}`).kind).toBe('object');
    expect(request(`{"provider":{"only":${listed(257)}}}`)).toMatchObject({
      kind: 'unreadable',
      error: { code: 'invalid_request', param: 'provider' },
    });
    expect(request(`{"cache":{"unknown":[[${listed(257)}]]}}`).kind).toBe('unreadable');
    expect(request(`{"messages":${listed(5_000)},"cache":{"a":[]},"stop":${listed(257)}}`).kind).toBe('object');
    expect(kindOf(`{"provider":${listed(257)}}`)).toBe('object');
  });

  it('is counted as a parser counts it', () => {
    const countValues = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? Object.values(value).reduce((sum: number, member) => sum + countValues(member), 1)
        : 1;
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const [values, depth] = [countValues(value), depthOf(value)];
        expect(findBoundsFault(text, { depthMax: depth, valuesMax: values })).toBeUndefined();
        expect(findBoundsFault(text, { depthMax: depth, valuesMax: values - 1 })?.kind).toBe('values');
        if (depth > 0) expect(findBoundsFault(text, { depthMax: depth - 1 })?.kind).toBe('depth');
      }),
    );
  });

  it('is UTF-8, with nothing replaced on the way', () => {
    expect(readJsonBody(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toMatchObject({ kind: 'unreadable' });
    expect(read('{"a":"\ud83d\ude80 \\ud83d"}')).toEqual({ kind: 'object', value: { a: '\ud83d\ude80 \ud83d' } });
  });
});
