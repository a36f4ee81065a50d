// A memory budget that other calls have filled.
import type { CallMemory, MemoryBudget } from '../../shared/protocol/memory-budget/index.ts';

/**
 * Fills the memory of answers: answers use up their share of a third, and one more exceeds it, so that no further
 * answer can. `passTime` lets the second pass for which the last answer waits.
 */
export async function fullOfAnswers(
  budget: MemoryBudget,
  maxBytes: number,
  passTime: () => void = () => {},
): Promise<Pick<CallMemory, 'end'>> {
  const [held, beyond] = [budget.open(), budget.open()];
  await held.openAnswer().take(maxBytes / 3, { mayWait: true });
  const waits = beyond.openAnswer().take(maxBytes / 3, { mayWait: true });
  passTime();
  await waits;
  return {
    end() {
      beyond.end();
      held.end();
    },
  };
}

/** Fills the memory of large requests of another workspace, except for this many bytes. */
export async function fullOfRequests(budget: MemoryBudget, maxBytes: number, leftBytes = 0): Promise<CallMemory> {
  const held = budget.open();
  await held.openRequest().take({ workspace: 'another', bytes: maxBytes / 2 - leftBytes, isLarge: true });
  return held;
}
