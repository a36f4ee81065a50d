// Opens the guardrails of a call, and checks its input, its stream and its answer with them. This file is loaded with
// the first call that has guardrails.
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
import { guardrailDefinitions } from './guardrails-of-call.ts';

/** The parts of a call that are needed to open its guardrails. */
export interface GuardContext extends Pick<IdentifiedCall, 'catalogue'> {
  readonly parsed: Pick<ParsedCall, 'scope' | 'clientInterface' | 'deadline' | 'streamDeadline'>;
}

interface GuardOptions {
  readonly ids: readonly string[];
  readonly isStream: boolean;
}

/** Opens the guardrails with these ids. */
export async function openCallGuard(
  { clock, log, transport, credentials }: GatewayDependencies,
  call: GuardContext,
  { ids, isStream }: GuardOptions,
): Promise<CallGuard> {
  const { scope, clientInterface, deadline, streamDeadline } = call.parsed;
  const { correlationId, clientGone, memory, details } = scope;
  const guardrails = guardrailDefinitions(call, ids);
  const missing = ids.find((id) => !call.catalogue.guardrails.has(id));
  details.guardrailChecks = [];
  // If the client has disconnected, the check fails for that reason, so the guardrail does not count as passed.
  const passesOnFailure = (id: string) =>
    call.catalogue.guardrails.get(id)?.on_failure === 'pass' && !clientGone.aborted;
  const guard = await openGuard({
    ...{ guardrails, clock, transport, credentials, deadline, clientGone, memory },
    outputDeadline: isStream ? streamDeadline : deadline,
    grammar: await clientInterface.grammar(),
    callId: correlationId,
    note: (check) => void details.guardrailChecks?.push(check),
    onFailure: (guardrail, direction, cause) => {
      const fields = { event: 'guardrail_failed', correlation_id: correlationId, guardrail, direction };
      log.error({ ...fields, ...(passesOnFailure(guardrail) ? { failed_control: 'guardrail' } : {}) }, cause);
    },
  });
  let recordBlockedText: ((text: string) => void) | undefined;
  // A call is not made if a guardrail that must check it is missing.
  const missingMessage = `The guardrail ${missing}, which checks this call, is not in the gateway file.`;
  const missingGuardrail = () => fail('RATE_LIMITER_UNAVAILABLE', { message: missingMessage });
  return {
    guardrails,
    recordBlockedTextIn(content) {
      recordBlockedText = content.blocked;
    },
    async checkInput(parsed, body) {
      if (missing !== undefined) return missingGuardrail();
      return applyInputVerdict(parsed, body, await guard.checkRequest(textOf(parsed, body)));
    },
    async checkStream(stream, choices) {
      let refusal: GatewayError | undefined;
      let isBlocked = false;
      const events = eventsOf(stream);
      const rest = guard.checkStream(events, {
        reader: clientInterface.openEventReader(choices),
        onBlocked: (dropped) => {
          isBlocked = true;
          recordBlockedText?.(dropped.map(({ text }) => text).join('\n'));
        },
        onFailed: (failed) => {
          refusal = failed.kind === 'failed' ? guardrailUnavailable(failed) : (failed.error as GatewayError);
        },
      });
      // No guardrail reads this stream, for example because it is audio. The stream is returned unchanged, because its
      // first piece determines the content type.
      if (rest === events) return stream;
      // A failure within the limit becomes `refusal`, which has an HTTP status. A later failure ends the stream.
      const first = rest.next();
      await settleOrTimeout(clock, keepAliveCommentMs, first);
      return { ...stream, opening: [], rest: prependFirst(first, rest), refusal, isBlocked: () => isBlocked };
    },
    async checkAnswer({ text, isPlain, json }) {
      if (missing !== undefined) return missingGuardrail();
      const check = await guard.checkAnswer(isPlain ? await rescanAnswer(JSON.stringify({ text })) : json);
      if (check.kind === 'failed') return guardrailUnavailable(check);
      const { masked, isBlocked } = check;
      if (isBlocked) recordBlockedText?.(text);
      if (masked === undefined) return { dropped: [] };
      const outcome = isPlain
        ? { text: (JSON.parse(masked.text) as { text: string }).text }
        : { text: masked.text, json: await rescanAnswer(masked.text) };
      return { ...outcome, ...(isBlocked && { finishReasons: ['content_filter'] }), dropped: masked.dropped };
    },
  };
}

/** Yields the buffered opening events, and then the remaining events. */
async function* eventsOf({ opening, rest }: OpenStream): AsyncGenerator<EventBatch, void, undefined> {
  yield { events: opening };
  yield* rest;
}

/**
 * Waits for the work, but no longer than the limit. An error can have an HTTP status only before the stream begins, and
 * the stream must begin within the limit, because clients close a silent connection.
 */
async function settleOrTimeout(clock: Clock, limitMs: number, working: Promise<unknown>): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const cancel = clock.after(limitMs, timeout.resolve);
  // The error is thrown again when the stream is read.
  await Promise.race([working.catch(() => {}), timeout.promise]);
  cancel();
}

async function* prependFirst(first: Promise<IteratorResult<EventBatch, void>>, rest: AsyncIterator<EventBatch, void>) {
  for (let next = await first; next.done !== true; next = await rest.next()) yield next.value;
}

/**
 * Returns the text to check. The whole body of a function call is checked, because its prompt uses only some of the
 * fields.
 */
const textOf = ({ isFunctionCall }: ParsedCall, { request }: CallBody) =>
  isFunctionCall ? jsonTextOf(request.raw) : request.text();

function applyInputVerdict(
  { clientInterface, scope, passedOn }: ParsedCall,
  { request, bodyMemory }: CallBody,
  verdict: GuardedRequest,
): CallBody | GatewayError | undefined {
  const { promptMember } = request;
  switch (verdict.kind) {
    case 'blocked': {
      const message = `The guardrail ${verdict.guardrail} blocks the request: ${verdict.message}`;
      return fail('invalid_request', { reason: 'content_policy_violation', message, param: promptMember });
    }
    case 'tokens': {
      const message = `${promptMember}: must be texts, not tokens, which the guardrail ${verdict.guardrail} cannot read`;
      return fail('invalid_request', { message, param: promptMember });
    }
    case 'failed':
      return guardrailUnavailable(verdict);
    case 'passed': {
      const { masked } = verdict;
      if (masked === undefined) return undefined;
      const { dropsUnusedFields } = scope.baseUrlRules;
      const form = request.form?.withTexts(textsIn(masked.text));
      const { path } = request;
      const readOptions = { allocation: bodyMemory.allocation, dropsUnusedFields, passedOn, path, form };
      const maskedRequest = readAgain(clientInterface, masked.text, readOptions);
      if (maskedRequest instanceof GatewayError || masked.dropped.length === 0) return maskedRequest;
      return { ...maskedRequest, request: { ...maskedRequest.request, leftOut: masked.dropped } };
    }
  }
}

/** Returns the fields of a form that contain text, by their names. */
function textsIn(body: string): ReadonlyMap<string, readonly string[]> {
  const isText = (value: unknown): value is string => typeof value === 'string';
  return new Map(
    Object.entries(JSON.parse(body) as JsonObject).flatMap(([name, value]): (readonly [string, string[]])[] =>
      isText(value) ? [[name, [value]]] : Array.isArray(value) && value.every(isText) ? [[name, value]] : [],
    ),
  );
}

/** Uses the general code for a dependency that does not answer, because clients know it and retry. */
const guardrailUnavailable = ({ guardrail, cause }: FailedCheck) =>
  fail('RATE_LIMITER_UNAVAILABLE', {
    message: `The guardrail ${guardrail} could not check this call, so the call is refused.`,
    cause,
  });
