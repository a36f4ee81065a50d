import fc from 'fast-check';
import { describe, expect, it, jest } from '#jest';
import { createEnvelopes, isEnvelope, type SignedEnvelope } from '../../../shared/protocol/wire/index.ts';

const key = Buffer.alloc(32, 1);
const text = fc.option(fc.string({ unit: 'binary' }), { nil: undefined });
const contents: fc.Arbitrary<SignedEnvelope> = fc.record({
  origin: fc.string(),
  model: fc.string(),
  signature: text,
  encrypted: text,
  of: fc.constantFrom(undefined, 'text' as const, { call: 'call_1' }),
});
/** Contents without lone surrogates, which no provider's text contains. */
const wellFormed = contents.filter((content) => JSON.stringify(content).isWellFormed());
const content = { origin: 'google-gemini-v1', model: 'gemini-3-pro', signature: 'c2lnbmVk' };

describe('an envelope of thinking', () => {
  it('opens for the workspace that got it, in any process of the store', () => {
    fc.assert(
      fc.property(wellFormed, (sealedEnvelope) => {
        const envelope = createEnvelopes(key, 'team-a').seal(sealedEnvelope);
        expect(isEnvelope(envelope)).toBe(true);
        expect(createEnvelopes(Buffer.from(key), 'team-a').open(envelope)).toEqual(sealedEnvelope);
      }),
    );
  });

  it('opens for no other workspace and on no other store', () => {
    const envelope = createEnvelopes(key, 'team-a').seal(content);
    expect(createEnvelopes(key, 'team-b').open(envelope)).toBeUndefined();
    expect(createEnvelopes(Buffer.alloc(32, 2), 'team-a').open(envelope)).toBeUndefined();
  });

  it('does not open with one character changed, more or less, and nothing of it is parsed', () => {
    const envelopes = createEnvelopes(key, 'team-a');
    const envelope = envelopes.seal(content);
    const parse = jest.spyOn(JSON, 'parse');
    for (let at = 0; at <= envelope.length; at += 1) {
      const [before, behind] = [envelope.slice(0, at), envelope.slice(at + 1)];
      const other = envelope[at] === 'A' ? 'B' : 'A';
      for (const forged of [before + behind, before + other + behind, before + other + envelope.slice(at)]) {
        if (forged !== envelope) expect(envelopes.open(forged)).toBeUndefined();
      }
    }
    const asLongAsABody = `gw1.${'A'.repeat(43)}.${Buffer.from(JSON.stringify(Array(1_000_000).fill(1))).toString('base64url')}`;
    expect(envelopes.open(asLongAsABody)).toBeUndefined();
    const parsed = parse.mock.calls.length;
    parse.mockRestore();
    expect(parsed).toBe(0);
  });

  it('takes at most 64 KiB beside the text of its provider, which is in it as it came', () => {
    const envelopes = createEnvelopes(key, 'team-a');
    const long = 'x'.repeat(1_000_000);
    const envelope = envelopes.seal({ ...content, encrypted: long });
    expect(envelope).toContain(long);
    expect(envelope.length - long.length).toBeLessThan(1_024);
    expect(() => envelopes.seal({ ...content, model: 'm'.repeat(60_000) })).toThrow('too long');
  });

  it('is one of 4,096 that are opened in a request at most', () => {
    const envelopes = createEnvelopes(key, 'team-a');
    const envelope = envelopes.seal(content);
    const openedEnvelopes = Array.from({ length: 5_000 }, () => envelopes.open(envelope)).filter(
      (one) => one !== undefined,
    );
    expect(openedEnvelopes).toHaveLength(4_096);
  });
});
