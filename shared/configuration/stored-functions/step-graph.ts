// The steps of a workflow as a graph. Pure: what each step needs goes in, what is wrong with it comes out.

/** Workflows are small; the bound keeps both walks below trivial. */
export const stepsMax = 32;

export interface StepNeeds {
  readonly id: string;
  /** Ids of the steps whose output it uses. */
  readonly needs: readonly string[];
}

/** The steps of one circle in the order they need each other, or undefined. Needs that name no step are ignored. */
export function findCircle(steps: readonly StepNeeds[]): string[] | undefined {
  const open = new Map(steps.map((step) => [step.id, step.needs]));
  // Whatever waits for no open step can run: take it out until nothing changes. What stays waits for a circle.
  for (let round = 0; round < steps.length; round += 1) {
    const ready = [...open].filter(([, needs]) => !needs.some((need) => open.has(need)));
    for (const [id] of ready) open.delete(id);
  }
  const [start] = open.keys();
  return start === undefined ? undefined : follow(start, open);
}

/** Every open step needs an open step, so walking along them meets one for the second time. */
function follow(start: string, open: ReadonlyMap<string, readonly string[]>): string[] {
  const walked = [start];
  for (;;) {
    const next = open.get(walked.at(-1) ?? start)?.find((need) => open.has(need)) ?? start;
    const met = walked.indexOf(next);
    if (met >= 0) return walked.slice(met);
    walked.push(next);
  }
}
