// Runs a function that was claimed: each of its provider calls goes through the provider loop of plain calls, on one
// bill and under one deadline. The answer is stored, and the slots are free, before the client has it.

import { runWorkflow, toFunctionAnswer } from '../../../shared/configuration/stored-functions/index.ts';
import { okStatus } from '../../../shared/errors/index.ts';
import { headerNames } from '../../../shared/foundation/constants/index.ts';
import type { GatewayResponse } from '../../../shared/protocol/http/index.ts';
import type { StartedExecution } from '../admission/claim-execution.ts';
import type { ChatDependencies } from '../dependencies.ts';
import { keepForReplay } from '../response/keep-answer.ts';
import { jsonHeaders } from '../response/response-headers.ts';
import type { ClaimedExecution } from '../stages.ts';
import { callUnit } from './call-unit.ts';
import { executionError } from './execution-error.ts';
import { executionUsage } from './execution-usage.ts';
import { planUnit } from './plan-unit.ts';

export async function execute(deps: ChatDependencies, call: StartedExecution): Promise<GatewayResponse> {
  const { clock } = deps;
  const startedAtMs = clock.nowMs();
  const running = run(deps, call).finally(() => {
    // Steps run side by side and one after the other, so their times do not add up to this.
    call.ending.upstreamMs = clock.nowMs() - startedAtMs;
  });
  // What fails here is tried again after the last byte, and at last a slot comes back with its lease.
  const slotsAreFree = running.then(call.giveSlotsBack, call.giveSlotsBack).catch(() => {});
  try {
    const { answer, headers } = await running;
    const gatewayMs = Math.max(0, clock.nowMs() - call.arrivedAtMs - call.ending.upstreamMs);
    const timing = { [headerNames.serverTiming]: `gw;dur=${gatewayMs}` };
    const response = {
      status: okStatus,
      headers: { ...headers, ...timing, ...jsonHeaders },
      body: JSON.stringify(answer),
    };
    await keepForReplay(deps, call, response);
    return response;
  } catch (error) {
    throw executionError(error);
  } finally {
    await slotsAreFree;
  }
}

interface Executed {
  readonly answer: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

async function run(deps: ChatDependencies, call: ClaimedExecution): Promise<Executed> {
  const { revision, matched, prompt } = call.execution;
  const { content, functionId, revisionId } = revision;
  const facts = { functionId, revisionId, executionId: call.owner };
  if (content.kind === 'prompt') {
    if (prompt === undefined) throw new Error('a prompt was claimed without its plan');
    const { body, candidate, fallbackUsed } = await callUnit(deps, call, prompt, call.scope.clientGone);
    return {
      answer: toFunctionAnswer({ ...facts, fallbackUsed }, { kind: 'prompt', body }, executionUsage(call)),
      headers: { [headerNames.model]: candidate.model.id, [headerNames.provider]: candidate.provider.id },
    };
  }
  const { output, answers } = await runWorkflow(content, matched, async (_step, request, signal) => {
    const unit = planUnit(deps, call, request);
    if (unit instanceof Error) throw unit;
    return callUnit(deps, call, unit, AbortSignal.any([signal, call.scope.clientGone]));
  });
  const fallbackUsed = [...answers.values()].some((answer) => answer.fallbackUsed);
  const result = { kind: 'workflow', output, model: call.request.model, nowMs: deps.clock.nowMs() } as const;
  // No single provider answered, so no header names one.
  return { answer: toFunctionAnswer({ ...facts, fallbackUsed }, result, executionUsage(call)), headers: {} };
}
