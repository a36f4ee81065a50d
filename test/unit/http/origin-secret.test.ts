import { describe, expect, it } from '#jest';
import { sha256Hex } from '../../../shared/foundation/ids/index.ts';
import { comesThroughEdge } from '../../../shared/protocol/http/index.ts';

const sent = (...values: string[]) => ({ 'x-gw-origin-secret': values });
const [older, newer] = [sha256Hex('older'), sha256Hex('newer')];

describe('the origin secret', () => {
  it('is not asked for where none is set', () => {
    expect(comesThroughEdge({}, [])).toBe(true);
    expect(comesThroughEdge(sent('anything'), [])).toBe(true);
  });

  it('is accepted in its old and its new value during a rotation', () => {
    for (const value of ['older', 'newer']) expect(comesThroughEdge(sent(value), [older, newer])).toBe(true);
    expect(comesThroughEdge(sent('newer'), [` ${newer.toUpperCase()} `])).toBe(true);
  });

  it('is refused when absent, wrong, sent twice, or sent as its own hash', () => {
    for (const headers of [{}, sent(), sent(''), sent('wrong'), sent('older', 'older'), sent(older)]) {
      expect(comesThroughEdge(headers, [older])).toBe(false);
    }
  });
});
