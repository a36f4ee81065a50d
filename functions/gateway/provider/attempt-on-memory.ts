// Calls one candidate within the memory of its request: all of the body until it was sent, and then the part that a
// package keeps.

import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import { collectedStreamMaxBytes, storedAnswerMaxBytes } from '../../../shared/foundation/constants/index.ts';
import { answerWeightOf } from '../../../shared/protocol/memory-budget/index.ts';
import { type CandidateFormat, chooseFormat } from '../../../shared/routing/formats/index.ts';
import type { AdmittedCandidate } from '../../../shared/routing/provider-metrics/index.ts';
import type { AttemptFailure } from '../../../shared/routing/providers/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { ProviderCall } from '../stages.ts';
import { type AttemptOutcome, attemptCandidate } from './attempt-candidate.ts';
import type { PreparedCall } from './prepare-call.ts';

export async function attemptOnMemory(
  deps: GatewayDependencies,
  call: ProviderCall,
  admitted: AdmittedCandidate,
  silenceLimitMs: number,
): Promise<AttemptOutcome> {
  const format = chooseFormat(admitted.candidate, call.request);
  const isTranslated = format?.kind !== 'relay';
  const allocating = allocate(call, isTranslated);
  const failure = allocating === undefined ? undefined : await allocating;
  if (failure !== undefined) return { kind: 'failure', failure };
  const { allocation, letGoValues } = call.bodyMemory;
  let outcome: AttemptOutcome | undefined;
  try {
    outcome = await attemptCandidate(deps, call, admitted, {
      answerMaxBytes: () => call.clientInterface.answerMaxBytes(call.request),
      silenceLimitMs,
      answerWeight: answerWeightOf({ isTranslated, isGuarded: call.guard !== undefined }),
      streamCopies: streamCopiesOf(call),
      onPrepared: call.content && ((prepared) => keepSent(call, admitted.candidate, format, prepared)),
      onSent() {
        allocation.keep(isTranslated ? 'translatedSent' : 'relayedSent');
        // The package has copied the values that it needs.
        letGoValues();
      },
    });
    return outcome;
  } finally {
    if (outcome?.kind !== 'stream') allocation.keep('relayedSent');
  }
}

/**
 * Reserves again what an earlier attempt released when its request was sent. Returns a failure where there is no memory
 * for it, and undefined where there is nothing to wait for.
 */
function allocate(
  { bodyMemory }: Pick<ProviderCall, 'bodyMemory'>,
  isTranslated: boolean,
): Promise<AttemptFailure | undefined> | undefined {
  const waits = bodyMemory.allocation.take(isTranslated ? 'translated' : 'relayed');
  if (waits === undefined && !isTranslated) {
    bodyMemory.letGoValues();
    return undefined;
  }
  return prepareValues(bodyMemory, waits, isTranslated);
}

async function prepareValues(
  bodyMemory: ProviderCall['bodyMemory'],
  waits: Promise<void> | undefined,
  isTranslated: boolean,
): Promise<AttemptFailure | undefined> {
  try {
    await waits;
  } catch (error) {
    if (error instanceof GatewayError) return noMemory(error);
    throw error;
  }
  if (isTranslated) await bodyMemory.readValues();
  else bodyMemory.letGoValues();
  return undefined;
}

/** Returns the bounds of the copies that the cache, the schema check and the Idempotency-Key make of a stream. */
const streamCopiesOf = ({ holdings, request, idempotencyKey }: ProviderCall): readonly number[] => [
  ...(holdings.cache?.store === undefined ? [] : [collectedStreamMaxBytes]),
  ...(request.schemaCheck === undefined ? [] : [collectedStreamMaxBytes]),
  ...(idempotencyKey === undefined ? [] : [storedAnswerMaxBytes]),
];

/**
 * Adds the sent body to the content log, which has the client's own body already. The body of a function's model call
 * is not the client's.
 */
function keepSent(
  { content, asksFunction, request }: ProviderCall,
  candidate: Candidate,
  format: CandidateFormat | undefined,
  { text, secrets }: PreparedCall,
): void {
  const named = { provider: candidate.provider.id, model: candidate.model.id };
  const api = format === undefined || format.kind === 'relay' ? request.interfaceId : format.api;
  content?.sent({ ...named, format: api, body: text(), secrets }, format?.kind !== 'relay' || asksFunction);
}

const noMemory = (refusal: GatewayError): AttemptFailure => ({
  kind: 'failed',
  cause: 'no_memory',
  isOurFault: true,
  isUnavailable: true,
  refusal,
});
