import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../../shared/errors/index.ts';
import { makePlan, worstCaseOf } from '../../../shared/routing/planner/index.ts';
import { entryOf, planFactsOf, priced, requestOf } from './planning.ts';

const contextLength = 1_000_000;
/** A pico-USD for each token. */
const perToken = '0.000001';

/** What a call holds, in tokens of input or of output. */
function held(members: Record<string, unknown>, kind: 'input' | 'output'): number {
  const prices = kind === 'input' ? priced(perToken, '0') : priced('0', perToken);
  const request = requestOf({ max_tokens: 10, ...members });
  const plan = makePlan(request, planFactsOf([entryOf('acme', { ...prices, context_length: contextLength })]));
  if (plan instanceof GatewayError) throw plan;
  return Number(worstCaseOf(request, plan));
}

const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
const image = (url: string, detail?: string) => ({ type: 'image_url', image_url: { url, ...(detail && { detail }) } });
const remote = 'https://images.example/a.png';

/** The header of a PNG says how large it is; behind it anything may come. */
function png(width: number, height: number, bytes = 0): string {
  const header = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  const size = Buffer.alloc(13);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  return `data:image/png;base64,${Buffer.concat([header, size, Buffer.alloc(bytes)]).toString('base64')}`;
}

describe('what a call holds for its input', () => {
  it('is bounded for an image by tokens, not by the context nor by its bytes', () => {
    const tokens = held(user(image(remote)), 'input');
    expect(tokens).toBeGreaterThan(2_833);
    expect(tokens).toBeLessThan(60_000);
    const [small, heavy] = [0, 2_000_000].map((bytes) => held(user(image(png(100, 100, bytes))), 'input'));
    expect(heavy).toBe(small);
  });

  it('is less for a small image and for low detail, where these are known', () => {
    const unknown = held(user(image(remote)), 'input');
    expect(held(user(image(png(100, 100))), 'input')).toBeLessThan(unknown);
    expect(held(user(image(remote, 'low')), 'input')).toBeLessThan(10_000);
  });

  it('is the whole context with audio, also where an assistant message only refers to it', () => {
    const audio = { messages: [{ role: 'assistant', audio: { id: 'audio-1' } }] };
    expect(held(audio, 'input')).toBe(contextLength);
  });
});

describe('what a call holds for its output', () => {
  it('has room for a prediction that is rejected, which is billed beside what was asked for', () => {
    const prediction = { type: 'content', content: 'x'.repeat(1_000) };
    expect(held({}, 'output')).toBe(10);
    expect(held({ prediction }, 'output')).toBeGreaterThanOrEqual(1_010);
  });
});
