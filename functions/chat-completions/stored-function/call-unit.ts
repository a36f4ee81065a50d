// One provider call of a function, fallback models included. The provider loop goes on to them where a provider fails;
// where a model answers and its answer is no result, the models behind it are asked here.
import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import { outputTextOf, type StepAnswer } from '../../../shared/configuration/stored-functions/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import { withoutReasoning } from '../../../shared/protocol/wire/index.ts';
import type { Plan } from '../../../shared/routing/planner/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import { provide } from '../provider/provide.ts';
import type { ClaimedExecution, ProvidedCall, Unit } from '../stages.ts';
import { noResult } from './execution-error.ts';
import { addEnding, toUnitCall } from './unit-call.ts';

export interface UnitAnswer extends StepAnswer {
  readonly body: Readonly<Record<string, unknown>>;
  readonly candidate: Candidate;
  readonly fallbackUsed: boolean;
}

export async function callUnit(
  deps: ChatDependencies,
  call: ClaimedExecution,
  unit: Unit,
  stop: AbortSignal,
): Promise<UnitAnswer> {
  // Each round leaves one model behind.
  for (let { plan } = unit; ; ) {
    const unitCall = toUnitCall(call, { ...unit, plan }, stop);
    try {
      return readAnswer(call, unit, await provide(deps, unitCall));
    } catch (error) {
      const behind = isInvalidAnswer(error) ? modelsBehind(plan, unitCall.ending.turn?.candidate) : undefined;
      if (behind === undefined) throw error;
      plan = behind;
    } finally {
      addEnding(call.ending, unitCall.ending);
    }
  }
}

function readAnswer({ execution }: ClaimedExecution, unit: Unit, { success, turn }: ProvidedCall): UnitAnswer {
  if (success.kind === 'stream') throw new Error('a function never streams');
  const { body } = success.answer;
  // An answer without text, a refusal say, is a result of a prompt, but feeds no step.
  const output = outputTextOf(body);
  if (output === undefined && execution.prompt === undefined) throw noResult();
  const { candidate } = turn;
  return {
    body: unit.request.reasoning?.exclude === true ? withoutReasoning(body) : body,
    output: output ?? '',
    candidate,
    fallbackUsed: unit.fallbacks.has(candidate),
  };
}

const isInvalidAnswer = (error: unknown): boolean =>
  error instanceof GatewayError && (error.code === 'schema_validation_failed' || error.code === 'execution_failed');

/** Candidates of other models that stand behind this one. Undefined: there are none. */
function modelsBehind(plan: Plan, candidate: Candidate | undefined): Plan | undefined {
  if (candidate === undefined) return undefined;
  const [first, ...rest] = plan
    .slice(plan.indexOf(candidate) + 1)
    .filter(({ model }) => model.id !== candidate.model.id);
  return first === undefined ? undefined : [first, ...rest];
}
