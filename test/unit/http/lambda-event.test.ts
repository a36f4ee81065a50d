import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { toGatewayRequest } from '../../../shared/protocol/http/index.ts';
import { chatEvent, manualClock, startMs } from './fixtures.ts';

const read = (event: unknown) => toGatewayRequest(event, manualClock());
const bodyOf = async (event: unknown) => (await read(event).readBody('any')).toString();
const hardSize = 4 * 1024 * 1024;

describe('a function URL event', () => {
  it('gives method, path without query, and headers in lower case', () => {
    const request = read(chatEvent({ rawQueryString: 'a=1' }));
    expect(request.method).toBe('POST');
    expect(request.path).toBe('/v1/chat/completions');
    expect(request.headers['content-type']).toEqual(['application/json']);
    expect(request.headers['Content-Type']).toBeUndefined();
  });

  it('keeps what Lambda joined by comma as the one value it was given', () => {
    expect(read(chatEvent({ headers: { 'x-gw-span-id': 'a,b' } })).headers['x-gw-span-id']).toEqual(['a,b']);
  });

  it('keeps both values of a name in two spellings', () => {
    const { headers } = read(chatEvent({ headers: { 'X-A': '1', 'x-a': '2' } }));
    expect(headers['x-a']).toEqual(['1', '2']);
  });

  it('takes a header called __proto__ for a header', () => {
    const { headers } = read(chatEvent({ headers: JSON.parse('{"__proto__":"x"}') }));
    expect(Object.keys(headers)).toEqual(['__proto__']);
  });

  it('names one path however many slashes are in it or behind it', () => {
    for (const rawPath of ['/v1/models', '/v1/models/', '//v1///models//']) {
      expect(read(chatEvent({ rawPath })).path).toBe('/v1/models');
    }
    for (const rawPath of ['/', '//', '', undefined]) expect(read(chatEvent({ rawPath })).path).toBe('/');
  });

  it('decodes base64 exactly once', async () => {
    const inner = Buffer.from('{"a":"é"}').toString('base64');
    expect(await bodyOf(chatEvent({ body: inner, isBase64Encoded: true }))).toBe('{"a":"é"}');
    expect(await bodyOf(chatEvent({ body: inner, isBase64Encoded: false }))).toBe(inner);
  });

  it('reads an absent body as empty', async () => {
    for (const body of [undefined, null, '']) expect(await bodyOf(chatEvent({ body }))).toBe('');
  });

  it('takes a body of the hard size and not one byte more, plain or base64', async () => {
    const bytes = Buffer.alloc(hardSize, 'a');
    const over = Buffer.alloc(hardSize + 1, 'a');
    const tooLarge = { code: 'request_too_large' };
    const base64 = (body: Buffer) => chatEvent({ body: body.toString('base64'), isBase64Encoded: true });
    expect(await bodyOf(chatEvent({ body: bytes.toString() }))).toHaveLength(hardSize);
    await expect(bodyOf(chatEvent({ body: over.toString() }))).rejects.toMatchObject(tooLarge);
    expect(await bodyOf(base64(bytes))).toHaveLength(hardSize);
    await expect(bodyOf(base64(over))).rejects.toMatchObject(tooLarge);
    // Counted in bytes, not in characters.
    await expect(bodyOf(chatEvent({ body: 'é'.repeat(hardSize / 2 + 1) }))).rejects.toMatchObject(tooLarge);
  });

  it.each([
    ['now', startMs, startMs],
    ['some seconds ago', startMs - 9_000, startMs - 9_000],
    ['longer ago than a function may run: a stored event', startMs - 66_000, startMs],
    ['in the future', startMs + 1, startMs],
    ['no number', '1800000000000', startMs],
    ['not a number', Number.NaN, startMs],
    ['absent', undefined, startMs],
  ])('arrived %s', (_name, timeEpoch, expected) => {
    expect(read(chatEvent({ requestContext: { timeEpoch } })).arrivedAtMs).toBe(expected);
  });

  it('never throws, whatever it is', () => {
    const member = fc.anything();
    const event = fc.record(
      { rawPath: member, headers: member, requestContext: member, body: member, isBase64Encoded: member },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.anything(), event), (given) => {
        const request = read(given);
        expect(typeof request.method).toBe('string');
        expect(typeof request.path).toBe('string');
        expect(request.arrivedAtMs).toBe(startMs);
      }),
    );
    expect(read(undefined)).toMatchObject({ method: '', path: '/' });
  });
});
