// Which step waits for which: what a step may use is what its templates name.
import type { WorkflowStep } from './document.ts';
import { messageReferences } from './references.ts';
import { stepsMax } from './step-graph.ts';

export interface PlannedStep {
  readonly step: WorkflowStep;
  /** Ids of the steps that must be done before. */
  readonly needs: readonly string[];
}

export interface StepPlan {
  readonly steps: readonly PlannedStep[];
  /** Ids by distance: each wave needs the ones before it, and nothing inside itself. */
  readonly waves: readonly (readonly string[])[];
}

/** Throws an Error for steps that were never checked: too many, a circle, or a need that names no step. */
export function planSteps(steps: readonly WorkflowStep[]): StepPlan {
  if (steps.length > stepsMax) throw new Error(`a workflow has at most ${stepsMax} steps`);
  const planned = steps.map((step): PlannedStep => ({ step, needs: needsOf(step) }));
  const done = new Set<string>();
  const waves: string[][] = [];
  while (done.size < planned.length) {
    const ready = planned.filter(({ step, needs }) => !done.has(step.id) && needs.every((id) => done.has(id)));
    if (ready.length === 0) throw new Error('the steps of a workflow wait for each other or for no step');
    waves.push(ready.map(({ step }) => step.id));
    for (const { step } of ready) done.add(step.id);
  }
  return { steps: planned, waves };
}

const needsOf = ({ messages }: WorkflowStep): string[] => [
  ...new Set(messageReferences(messages).flatMap(({ step }) => step ?? [])),
];
