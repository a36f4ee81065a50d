// The steps of a workflow as a graph. A step needs the steps whose output its templates name.
import type { WorkflowStep } from './function-document.ts';
import { messageReferences } from './template.ts';

/** Workflows are small; the bound keeps both walks below trivial. */
export const stepsMax = 32;

export interface StepNeeds {
  readonly id: string;
  /** Ids of the steps whose output it uses. */
  readonly needs: readonly string[];
}

/** The steps of one cycle in the order they need each other, or undefined. Needs that name no step are ignored. */
export function findCycle(steps: readonly StepNeeds[]): string[] | undefined {
  const open = new Map(steps.map((step) => [step.id, step.needs]));
  // A step that needs no open step can run: remove it, until nothing changes. What remains waits for a cycle.
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

export interface PlannedStep {
  readonly step: WorkflowStep;
  /** Ids of the steps that must be done before. */
  readonly needs: readonly string[];
}

/** Throws an Error for steps that were never checked: too many, a cycle, or a need that names no step. */
export function planSteps(steps: readonly WorkflowStep[]): readonly PlannedStep[] {
  if (steps.length > stepsMax) throw new Error(`a workflow has at most ${stepsMax} steps`);
  const planned = steps.map((step): PlannedStep => ({ step, needs: needsOf(step) }));
  const ids = new Set(steps.map(({ id }) => id));
  const isRunnable = planned.every(({ needs }) => needs.every((id) => ids.has(id)));
  if (isRunnable && findCycle(planned.map(({ step: { id }, needs }) => ({ id, needs }))) === undefined) return planned;
  throw new Error('the steps of a workflow wait for each other or for no step');
}

const needsOf = ({ messages }: WorkflowStep): string[] => [
  ...new Set(messageReferences(messages).flatMap(({ step }) => step ?? [])),
];
