// The guardrails of a call, and the check of its input. This file is loaded with the first call that has guardrails.
import { fail, GatewayError } from '../../../shared/errors/index.ts';
import { keepAliveCommentMs } from '../../../shared/foundation/constants/index.ts';
import type { Clock } from '../../../shared/foundation/time/index.ts';
import { readAgain, rescanAnswer } from '../../../shared/protocol/interfaces/index.ts';
import { type JsonObject, jsonTextOf } from '../../../shared/protocol/wire/index.ts';
import { type FailedCheck, type GuardedRequest, openGuard } from '../../../shared/routing/guardrails/index.ts';
import type { EventBatch } from '../../../shared/routing/providers/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { OpenStream } from '../provider-call.ts';
import type { CallBody, CallGuard, IdentifiedCall, ParsedCall } from '../stages.ts';
import { documentsOf } from './guardrails-of-call.ts';

/** The parts of a call that its guardrails are opened with. */
export interface GuardedReading extends Pick<IdentifiedCall, 'catalogue'> {
  readonly parsed: Pick<ParsedCall, 'scope' | 'clientInterface' | 'deadline' | 'streamDeadline'>;
}

interface GuardOptions {
  readonly ids: readonly string[];
  readonly isStream: boolean;
}

/** Opens the guardrails with these ids. */
export async function openCallGuard(
  { clock, log, transport, credentials }: GatewayDependencies,
  call: GuardedReading,
  { ids, isStream }: GuardOptions,
): Promise<CallGuard> {
  const { scope, clientInterface, deadline, streamDeadline } = call.parsed;
  const { correlationId, clientGone, memory, details } = scope;
  const guardrails = documentsOf(call, ids);
  const missing = ids.find((id) => !call.catalogue.guardrails.has(id));
  details.guardrailChecks = [];
  /** A client that left ends the check too. */
  const letsPass = (id: string) => call.catalogue.guardrails.get(id)?.on_failure === 'pass' && !clientGone.aborted;
  const guard = await openGuard({
    ...{ guardrails, clock, transport, credentials, deadline, clientGone, memory },
    outputDeadline: isStream ? streamDeadline : deadline,
    grammar: await clientInterface.grammar(),
    callId: correlationId,
    note: (check) => void details.guardrailChecks?.push(check),
    onFailure: (guardrail, direction, cause) => {
      const fields = { event: 'guardrail_failed', correlation_id: correlationId, guardrail, direction };
      log.error({ ...fields, ...(letsPass(guardrail) ? { failed_control: 'guardrail' } : {}) }, cause);
    },
  });
  let keepBlocked: ((text: string) => void) | undefined;
  // A call with a guardrail is checked, or is not made.
  const missingMessage = `The guardrail ${missing}, which checks this call, is not in the gateway file.`;
  const missingGuardrail = () => fail('RATE_LIMITER_UNAVAILABLE', { message: missingMessage });
  return {
    guardrails,
    keepBlockedIn(content) {
      keepBlocked = content.blocked;
    },
    async checkInput(parsed, body) {
      if (missing !== undefined) return missingGuardrail();
      return goOn(parsed, body, await guard.checkRequest(textOf(parsed, body)));
    },
    async checkStream(stream, choices) {
      let refusal: GatewayError | undefined;
      let isBlocked = false;
      const events = eventsOf(stream);
      const rest = guard.checkStream(events, {
        reader: clientInterface.openEventReader(choices),
        onBlocked: (dropped) => {
          isBlocked = true;
          keepBlocked?.(dropped.map(({ text }) => text).join('\n'));
        },
        onFailed: (failed) => {
          refusal = failed.kind === 'failed' ? guardrailUnavailable(failed) : (failed.error as GatewayError);
        },
      });
      // Bytes of audio have no texts, and the first piece determines their type.
      if (rest === events) return stream;
      const first = rest.next();
      await settledWithin(clock, keepAliveCommentMs, first);
      return { ...stream, opening: [], rest: resumed(first, rest), refusal, isBlocked: () => isBlocked };
    },
    async checkAnswer({ text, isPlain, json }) {
      if (missing !== undefined) return missingGuardrail();
      const checked = await guard.checkAnswer(isPlain ? await rescanAnswer(JSON.stringify({ text })) : json);
      if (checked.kind === 'failed') return guardrailUnavailable(checked);
      const { masked, isBlocked } = checked;
      if (isBlocked) keepBlocked?.(text);
      if (masked === undefined) return { dropped: [] };
      const outcome = isPlain
        ? { text: (JSON.parse(masked.text) as { text: string }).text }
        : { text: masked.text, json: await rescanAnswer(masked.text) };
      return { ...outcome, ...(isBlocked && { finishReasons: ['content_filter'] }), dropped: masked.dropped };
    },
  };
}

/** Yields all events of a stream, the delayed ones first. */
async function* eventsOf({ opening, rest }: OpenStream): AsyncGenerator<EventBatch, void, undefined> {
  yield { events: opening };
  yield* rest;
}

/**
 * Waits for the work, but no longer than the limit: only before a stream begins can an error have a status, and a
 * stream that is silent for long has to begin.
 */
async function settledWithin(clock: Clock, limitMs: number, working: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const cancel = clock.after(limitMs, late.resolve);
  // The reader of the stream gets the fault.
  await Promise.race([working.catch(() => {}), late.promise]);
  cancel();
}

async function* resumed(first: Promise<IteratorResult<EventBatch, void>>, rest: AsyncIterator<EventBatch, void>) {
  for (let next = await first; next.done !== true; next = await rest.next()) yield next.value;
}

/** Returns the whole parsed body of a function call as text: the text that its prompt uses is only a part of it. */
const textOf = ({ asksFunction }: ParsedCall, { request }: CallBody) =>
  asksFunction ? jsonTextOf(request.raw) : request.text();

function goOn(
  { clientInterface, scope, passedOn }: ParsedCall,
  { request, bodyMemory }: CallBody,
  checked: GuardedRequest,
): CallBody | GatewayError | undefined {
  const { promptMember } = request;
  switch (checked.kind) {
    case 'blocked': {
      const message = `The guardrail ${checked.guardrail} blocks the request: ${checked.message}`;
      return fail('invalid_request', { reason: 'content_policy_violation', message, param: promptMember });
    }
    case 'tokens': {
      const message = `${promptMember}: must be texts, not tokens, which the guardrail ${checked.guardrail} cannot read`;
      return fail('invalid_request', { message, param: promptMember });
    }
    case 'failed':
      return guardrailUnavailable(checked);
    case 'passed': {
      const { masked } = checked;
      if (masked === undefined) return undefined;
      const { dropsIdleMembers } = scope.baseUrlRules;
      const form = request.form?.withTexts(textsIn(masked.text));
      const { path } = request;
      const reading = { allocation: bodyMemory.allocation, dropsIdleMembers, passedOn, path, form };
      const again = readAgain(clientInterface, masked.text, reading);
      if (again instanceof GatewayError || masked.dropped.length === 0) return again;
      return { ...again, request: { ...again.request, leftOut: masked.dropped } };
    }
  }
}

/** Returns the fields of a form that are texts, by their names. */
function textsIn(body: string): ReadonlyMap<string, readonly string[]> {
  const isText = (value: unknown): value is string => typeof value === 'string';
  return new Map(
    Object.entries(JSON.parse(body) as JsonObject).flatMap(([name, value]): (readonly [string, string[]])[] =>
      isText(value) ? [[name, [value]]] : Array.isArray(value) && value.every(isText) ? [[name, value]] : [],
    ),
  );
}

const guardrailUnavailable = ({ guardrail, cause }: FailedCheck) =>
  fail('RATE_LIMITER_UNAVAILABLE', {
    message: `The guardrail ${guardrail} gave no answer, and no text passes without it.`,
    cause,
  });
