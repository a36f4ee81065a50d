// Runs the steps of a workflow: each as soon as what it needs is done, independent ones at the same time. After the first
// failure nothing more is started, and what still runs is aborted and waited for, so that its cost is known.

import { jsonIn } from './function-answer.ts';
import type { WorkflowRevision, WorkflowStep } from './function-document.ts';
import type { MatchedInput } from './match-input.ts';
import { type RenderScope, renderMessages, renderTemplate, type StepOutput } from './render.ts';
import { type FunctionRequest, toRequest } from './request.ts';
import { type PlannedStep, planSteps } from './step-graph.ts';
import { revisionReferences } from './template.ts';

/** An answer may be as large as 16 MiB: eight of them fit beside everything else. */
const parallelStepsMax = 8;

export interface StepAnswer {
  /** The text of the answer. */
  readonly output: string;
}

/** Makes the provider calls of one step. `signal` aborts when another step failed. */
export type CallStep<Answer extends StepAnswer> = (
  step: WorkflowStep,
  request: FunctionRequest,
  signal: AbortSignal,
) => Promise<Answer>;

export interface WorkflowResult<Answer> {
  readonly output: string;
  /** By step id, in the order in which they ended. */
  readonly answers: ReadonlyMap<string, Answer>;
}

/** Rejects with the first failure: what `callStep` threw, or execution_failed where an answer lacks a path. */
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

/** Steps of whose answer some template wants a part. The others need not answer JSON. */
const stepsReadInto = (content: WorkflowRevision): ReadonlySet<string> =>
  new Set(
    revisionReferences(content).flatMap(({ step, path }) => (step === undefined || path.length === 0 ? [] : step)),
  );
