// Runs the steps of a workflow. Each step runs as soon as the steps that it needs are done, and independent steps run
// concurrently. After the first failure nothing more is started, and running steps are aborted and awaited, so that
// their cost is known.

import { jsonIn } from './function-answer.ts';
import type { WorkflowRevision, WorkflowStep } from './function-document.ts';
import type { MatchedInput } from './match-input.ts';
import { type RenderScope, renderMessages, renderTemplate, type StepOutput } from './render.ts';
import { type FunctionRequest, toRequest } from './request.ts';
import { messageReferences, revisionReferences } from './template.ts';

/**
 * Maximum number of steps at a time. An answer may have 16 MiB, and eight answers fit into memory in addition to
 * everything else.
 */
const parallelStepsMax = 8;

export interface StepAnswer {
  /** Text of the answer. */
  readonly output: string;
}

/** Makes the provider calls of one step. `signal` aborts when another step failed. */
type CallStep<Answer extends StepAnswer> = (
  step: WorkflowStep,
  request: FunctionRequest,
  signal: AbortSignal,
) => Promise<Answer>;

interface WorkflowResult<Answer> {
  readonly output: string;
  /** Answers by step id, in the order in which they ended. */
  readonly answers: ReadonlyMap<string, Answer>;
}

/**
 * Runs the workflow. Rejects with the first failure, which is the error of `callStep`, or execution_failed if an answer
 * lacks a path.
 */
export async function runWorkflow<Answer extends StepAnswer>(
  content: WorkflowRevision,
  { input, passed }: MatchedInput,
  callStep: CallStep<Answer>,
): Promise<WorkflowResult<Answer>> {
  const waiting = new Set(planSteps(content.steps));
  const running = new Set<Promise<void>>();
  const readFurther = stepsReadInto(content);
  const outputs = new Map<string, StepOutput>();
  const answers = new Map<string, Answer>();
  const scope = { input, steps: outputs };
  const stop = new AbortController();
  let failure: { readonly error: unknown } | undefined;

  async function run({ step }: PlannedStep): Promise<void> {
    try {
      const request = toRequest(step, renderMessages(step.messages, scope), passed);
      const answer = await callStep(step, request, stop.signal);
      const json = readFurther.has(step.id) ? jsonIn(answer.output) : undefined;
      answers.set(step.id, answer);
      outputs.set(step.id, { text: answer.output, json });
    } catch (error) {
      failure ??= { error };
      stop.abort();
    }
  }

  function startReady(): void {
    for (const planned of waiting) {
      if (failure !== undefined || running.size >= parallelStepsMax) return;
      if (!planned.needs.every((id) => outputs.has(id))) continue;
      waiting.delete(planned);
      const started = run(planned).finally(() => running.delete(started));
      running.add(started);
    }
  }

  startReady();
  while (running.size > 0) {
    await Promise.race(running);
    startReady();
  }
  if (failure !== undefined) throw failure.error;
  return { output: outputOf(content, scope), answers };
}

const outputOf = ({ output }: WorkflowRevision, scope: RenderScope): string =>
  typeof output === 'string' ? renderTemplate(output, scope) : (scope.steps.get(output.step)?.text ?? '');

/** Returns the steps of whose answer some template needs a part. The answers of other steps need not be JSON. */
const stepsReadInto = (content: WorkflowRevision): ReadonlySet<string> =>
  new Set(
    revisionReferences(content).flatMap(({ step, path }) => (step === undefined || path.length === 0 ? [] : step)),
  );

// The steps of a workflow as a graph. A step needs the steps whose output its templates name.

/** Maximum number of steps. Workflows are small, and the bound makes the cost of both walks below trivial. */
export const stepsMax = 32;

export interface StepNeeds {
  readonly id: string;
  /** Ids of the steps whose output the step uses. */
  readonly needs: readonly string[];
}

/**
 * Returns the steps of one cycle in the order in which they need each other, or undefined. Ids that name no step are
 * ignored.
 */
export function findCycle(steps: readonly StepNeeds[]): string[] | undefined {
  const open = new Map(steps.map((step) => [step.id, step.needs]));
  // A step that needs no open step can run. Each round removes these steps, until nothing changes. The remaining steps
  // form a cycle.
  for (let round = 0; round < steps.length; round += 1) {
    const ready = [...open].filter(([, needs]) => !needs.some((need) => open.has(need)));
    for (const [id] of ready) open.delete(id);
  }
  const [start] = open.keys();
  return start === undefined ? undefined : follow(start, open);
}

/** Follows the needs. Every open step needs an open step, so that one step occurs for the second time. */
function follow(start: string, open: ReadonlyMap<string, readonly string[]>): string[] {
  const walked = [start];
  for (;;) {
    const next = open.get(walked.at(-1) ?? start)?.find((need) => open.has(need)) ?? start;
    const met = walked.indexOf(next);
    if (met >= 0) return walked.slice(met);
    walked.push(next);
  }
}

interface PlannedStep {
  readonly step: WorkflowStep;
  /** Ids of the steps that must be done before. */
  readonly needs: readonly string[];
}

/**
 * Plans the steps. Throws an Error for steps that were never checked, with too many steps, a cycle, or an unknown step.
 */
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
