import { expect, it } from '#jest';
import { sessionOf } from '../../../shared/routing/planner/index.ts';
import { requestOf } from '../../support/planning.ts';

const source = { scope: { correlationId: 'call-1', correlation: {} } };

it('a session is read from the body once and short, however long a client writes it and however many are drawn by it', () => {
  for (const member of ['prompt_cache_key', 'user']) {
    const request = requestOf({ [member]: 'x'.repeat(1_000_000) });
    let reads = 0;
    const callText = {
      user: request.user,
      text: () => {
        reads += 1;
        return request.text();
      },
    };
    const session = sessionOf(source, callText);
    const drawn = Array.from({ length: 256 }, () => session());
    expect(new Set(drawn).size).toBe(1);
    expect(drawn[0]?.length).toBeLessThan(100);
    expect(reads).toBe(1);
    expect(sessionOf(source, requestOf({ [member]: `${'x'.repeat(1_000_000)}y` }))()).not.toBe(drawn[0]);
  }
});
