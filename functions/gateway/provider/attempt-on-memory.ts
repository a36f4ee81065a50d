// Calls one candidate within the memory of its request, which is reserved before the request is made: until it was
// sent, and for the part that a package keeps.

import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import { type CandidateFormat, chooseFormat } from '../../../shared/routing/formats/index.ts';
import type { AdmittedCandidate } from '../../../shared/routing/provider-metrics/index.ts';
import type { AttemptFailure } from '../../../shared/routing/providers/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { ProviderCall } from '../stages.ts';
import { type AttemptOutcome, attemptCandidate } from './attempt-candidate.ts';
import type { PreparedCall } from './prepare-call.ts';

/** The text that is written anew, the same with its head, and its bytes. */
const relayedForms = 3;
/** Beside them the values of the package, their text as it writes it, and that text as it is scanned. */
const translatedForms = 6;
/** Copies that the package's own calls keep until they return: the values and their text. */
const awaitedForms = 2;
/** The values, until the last part of a stream is read. */
const streamedForms = 1;

export async function attemptOnMemory(
  deps: GatewayDependencies,
  call: ProviderCall,
  admitted: AdmittedCandidate,
  silenceLimitMs: number,
): Promise<AttemptOutcome> {
  const format = chooseFormat(admitted.candidate, call.request);
  const isTranslated = format?.kind !== 'relay';
  const memory = await openSentMemory(call, isTranslated);
  if ('failure' in memory) return { kind: 'failure', ...memory };
  let outcome: AttemptOutcome | undefined;
  try {
    outcome = await attemptCandidate(deps, call, admitted, {
      answerMaxBytes: () => call.clientInterface.answerMaxBytes(call.request),
      silenceLimitMs,
      isTranslated,
      onPrepared: call.content && ((prepared) => keepSent(call, admitted.candidate, format, prepared)),
      onSent: memory.sent,
    });
    return outcome;
  } finally {
    if (outcome?.kind === 'stream') memory.streams();
    else memory.end();
  }
}

/** The client's own body is kept already. That of a function's model call is not the client's. */
function keepSent(
  { content, asksFunction, request }: ProviderCall,
  candidate: Candidate,
  format: CandidateFormat | undefined,
  { body, secrets }: PreparedCall,
): void {
  const named = { provider: candidate.provider.id, model: candidate.model.id };
  const api = format === undefined || format.kind === 'relay' ? request.interfaceId : format.api;
  // Files are bytes, and relayed.
  const text = typeof body === 'string' ? body : '';
  content?.sent({ ...named, format: api, body: text, secrets }, format?.kind !== 'relay' || asksFunction);
}

interface SentMemory {
  /** Called when all of it has left this process. */
  sent(): void;
  /** The stream of the answer is open. */
  streams(): void;
  end(): void;
}

/** Returns a failure when there is no memory for the request. */
async function openSentMemory(
  { scope, request, bodyMemory }: Pick<ProviderCall, 'scope' | 'request' | 'bodyMemory'>,
  isTranslated: boolean,
): Promise<SentMemory | { readonly failure: AttemptFailure }> {
  const part = scope.memory.openPart();
  // A package writes files as base64.
  const fileCharacters = Math.ceil(((request.form?.byteLength ?? 0) * 4) / 3);
  const characters = request.text().text.length + (isTranslated ? fileCharacters : 0);
  const keepForms = (forms: number) => part.keepOnly(isTranslated ? forms * characters : 0);
  const end = () => part.keepOnly(0);
  try {
    await part.reserve((isTranslated ? translatedForms : relayedForms) * characters);
    if (isTranslated) await bodyMemory.readValues();
    else bodyMemory.letGoValues();
  } catch (error) {
    end();
    if (error instanceof GatewayError) return { failure: noMemory(error) };
    throw error;
  }
  return {
    sent() {
      keepForms(awaitedForms);
      // The package has values of its own.
      bodyMemory.letGoValues();
    },
    streams: () => keepForms(streamedForms),
    end,
  };
}

const noMemory = (refusal: GatewayError): AttemptFailure => ({
  kind: 'failed',
  cause: 'no_memory',
  isOurFault: true,
  isUnavailable: true,
  refusal,
});
