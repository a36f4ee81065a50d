import { describe, expect, it } from '#jest';
import { callTimes, leaseMs, requestBudgetMs, streamBudget } from '../../../shared/foundation/constants/index.ts';

/** Lambda ends every function after so long. */
const lambdaMaxSeconds = 900;

describe('the time limits of a call', () => {
  it('are 55 s < 60 s < 65 s < 70 s, and 75 s for the distribution, without a setting', () => {
    expect(callTimes()).toEqual({
      streamBudgetMs: 55_000,
      deliveryMs: { text: 60_000, stream: 60_000 },
      functionTimeoutSeconds: 65,
      leaseMs: 70_000,
      completionTimeoutSeconds: 75,
    });
    expect(leaseMs).toBe(70_000);
  });

  it('stand in their order for every budget that a stage may have, and what is no stream keeps its own', () => {
    for (let seconds = streamBudget.minSeconds; seconds <= streamBudget.maxSeconds; seconds += 1) {
      const times = callTimes(seconds);
      const functionTimeoutMs = times.functionTimeoutSeconds * 1_000;
      const order = [seconds * 1_000, times.deliveryMs.stream, functionTimeoutMs, times.leaseMs];
      expect(times.streamBudgetMs).toBe(seconds * 1_000);
      expect(order).toEqual([...new Set(order)].toSorted((a, b) => a - b));
      expect(times.functionTimeoutSeconds).toBeLessThanOrEqual(lambdaMaxSeconds);
      expect(times.completionTimeoutSeconds).toBeGreaterThan(times.functionTimeoutSeconds);
      expect(times.deliveryMs.text).toBe(requestBudgetMs + 5_000);
    }
  });

  it.each([54, 841, 60.5, Number.NaN])('are refused for a budget that no stage may have: %p', (seconds) => {
    expect(() => callTimes(seconds)).toThrow(RangeError);
  });
});
