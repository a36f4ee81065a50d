// A provider call of a function, as the provider loop knows calls: with a request and a plan of its own, on the bill, the
// deadline and the afterwards of the whole execution.
import { newEnding } from '../admission/new-ending.ts';
import type { CallEnding, ClaimedCall, ClaimedExecution, Unit } from '../stages.ts';

export const toUnitCall = (call: ClaimedExecution, { request, plan }: Unit, stop: AbortSignal): ClaimedCall => ({
  ...call,
  scope: { ...call.scope, clientGone: stop },
  request,
  plan,
  // Functions are paid with workspace credit (spec 4.1, function-call rule 3).
  byok: undefined,
  policy: {},
  cache: undefined,
  firstTurn: undefined,
  ending: newEnding(),
});

/** What one provider call adds to the ending of the execution. Calls may run side by side. */
export function addEnding(whole: CallEnding, part: CallEnding): void {
  whole.attempts += part.attempts;
  whole.turn = part.turn ?? whole.turn;
  whole.queuedMs += part.queuedMs;
  whole.firstOutputAtMs ??= part.firstOutputAtMs;
  whole.causes = [...whole.causes, ...part.causes];
}
