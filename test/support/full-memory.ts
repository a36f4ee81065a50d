// A memory budget that other calls have filled.
import type { CallMemory, MemoryBudget } from '../../shared/protocol/memory-budget/index.ts';

/**
 * Answers keep their whole third, and one more went beyond it, so that no further one can. `passTime`: makes the second pass for
 * which that one waits.
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

/** Requests of another workspace keep all memory of large ones but so many bytes. */
export async function fullOfRequests(budget: MemoryBudget, maxBytes: number, leftBytes = 0): Promise<CallMemory> {
  const held = budget.open();
  await held.openRequest().take({ workspace: 'another', bytes: maxBytes / 2 - leftBytes, isLarge: true });
  return held;
}
