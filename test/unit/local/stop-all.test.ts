// Stopping everything that a start has started.
import { describe, expect, it } from '#jest';
import { stopAll } from '../../../infra/local/open-composition.ts';

describe('a stop that fails', () => {
  it('keeps none of the others from ending, in their order, and is what the stop rejects with', async () => {
    const ended: string[] = [];
    const started = [
      () => void ended.push('store'),
      () => Promise.reject(new Error('transport')),
      () => {
        throw new Error('server');
      },
      () => void ended.push('processes'),
    ];
    await expect(stopAll(started)).rejects.toThrow('server');
    expect(ended).toEqual(['processes', 'store']);
    await stopAll(started);
    expect(ended).toHaveLength(2);
  });
});
