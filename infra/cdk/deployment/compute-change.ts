// A stage that moves between functions and tasks: what runs now stays for one deployment beside what the settings name, and the
// next one takes it away. So calls in flight end where they run.
import { computeOutput } from '../resource-names.ts';
import type { StageSettings } from '../settings-schema.ts';

type ComputeKind = StageSettings['compute'];

export interface ComputeChange {
  /** For one deployment: what runs beside what the settings name. */
  readonly alsoRuns?: ComputeKind;
  /** For the operator to confirm, a sentence without its subject. */
  readonly question?: string;
  /** Told at the end of a deployment that is to be followed by another one. */
  readonly next?: string;
}

const names: Readonly<Record<ComputeKind, string>> = { functions: 'the functions', container: 'the tasks' };

/** `outputs`: of the deployed api stack, undefined where there is none. */
export function planComputeChange(
  stage: string,
  settings: Pick<StageSettings, 'compute' | 'edge' | 'customDomain'>,
  outputs: Readonly<Record<string, string>> | undefined,
): ComputeChange {
  if (outputs?.BaseUrl === undefined) return {};
  // Stages from before the output had functions.
  const running: ComputeKind = outputs[computeOutput] === 'container' ? 'container' : 'functions';
  const { compute, edge, customDomain } = settings;
  if (running === compute) return {};
  // Without a distribution tasks are called by names that these settings do not have any more.
  if (running === 'container' && edge === 'none' && customDomain === null) {
    return { question: `end the tasks: clients of ${outputs.BaseUrl} get no answer any more` };
  }
  return {
    alsoRuns: running,
    question: `have ${names[compute]} run new calls; ${names[running]} stay until you deploy once more`,
    next: `${names[running]} are still there. Once no call runs in them: npm run deploy -- --stage ${stage}`,
  };
}
