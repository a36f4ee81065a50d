import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { readCorrelation } from '../../../shared/protocol/http/index.ts';

const names = [
  'x-gw-trace-id',
  'x-gw-span-id',
  'x-gw-parent-span-id',
  'x-gw-session-id',
  'x-session-id',
  'traceparent',
];
const idShape = /^[A-Za-z0-9._:-]{1,128}$/;
const read = (headers: Record<string, string[]>) => readCorrelation(headers, systemRandomness);

describe('the correlation headers', () => {
  it('always give a trace id that may stand in an answer, whatever was sent', () => {
    const value = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(idShape), fc.constant('a\r\nx-evil: 1'));
    const headers = fc.dictionary(fc.constantFrom(...names), fc.array(value, { minLength: 1, maxLength: 2 }));
    fc.assert(
      fc.property(headers, (sent) => {
        const { correlation, fault } = read(sent);
        expect(correlation.traceId).toMatch(idShape);
        if (Object.values(sent).some((values) => values.length > 1)) expect(fault?.code).toBe('invalid_correlation');
        if (fault !== undefined) expect(fault.message).not.toMatch(/[\r\n]|evil/);
      }),
    );
  });

  it('name every fault at once, so that a client needs one round to correct them', () => {
    const { fault } = read({ 'x-gw-trace-id': ['a b'], 'x-gw-span-id': ['s', 's'], 'x-gw-session-id': [''] });
    expect(fault?.message).toBe(
      'x-gw-trace-id is malformed; x-gw-span-id was sent twice; x-gw-session-id is malformed.',
    );
  });

  it('hand on what was sent', () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00';
    const sent = {
      traceparent: [traceparent],
      'x-gw-span-id': ['s'],
      'x-gw-parent-span-id': ['p'],
      'x-session-id': ['me'],
    };
    expect(read(sent)).toEqual({
      fault: undefined,
      correlation: {
        traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
        spanId: 's',
        parentSpanId: 'p',
        sessionId: 'me',
        traceparent,
      },
    });
  });
});
