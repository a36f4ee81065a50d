// The guardrails of a call, and the check of its input. Loaded with the first call that has some.
import { fail, type GatewayError } from '../../../shared/errors/index.ts';
import { keepAliveCommentMs } from '../../../shared/foundation/constants/index.ts';
import type { Clock } from '../../../shared/foundation/time/index.ts';
import { answerJson, readAgain, rescanned } from '../../../shared/protocol/interfaces/index.ts';
import { jsonTextOf } from '../../../shared/protocol/wire/index.ts';
import { type FailedCheck, type GuardedRequest, openGuard } from '../../../shared/routing/guardrails/index.ts';
import type { EventBatch } from '../../../shared/routing/providers/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { OpenStream } from '../provider-call.ts';
import type { CallGuard, GuardedCall, IdentifiedCall, MaskedRequest } from '../stages.ts';
import { documentsOf } from './guardrails-of-call.ts';

/** `ids`: of its guardrails. */
export async function openCallGuard(
  { clock, log, transport, credentials }: GatewayDependencies,
  call: IdentifiedCall,
  ids: readonly string[],
): Promise<CallGuard> {
  const { scope, clientInterface, deadline, streamDeadline, request } = call;
  const { correlationId, clientGone, memory, details } = scope;
  const guardrails = documentsOf(call, ids);
  const missing = ids.find((id) => !call.catalogue.guardrails.has(id));
  details.guardrailChecks = [];
  /** A client that left ends the check too. */
  const letsPass = (id: string) => call.catalogue.guardrails.get(id)?.on_failure === 'pass' && !clientGone.aborted;
  const guard = await openGuard({
    ...{ guardrails, clock, transport, credentials, deadline, clientGone, memory },
    outputDeadline: request.stream ? streamDeadline : deadline,
    interfaceId: clientInterface.id,
    callId: correlationId,
    note: (check) => void details.guardrailChecks?.push(check),
    onFailure: (guardrail, direction, cause) => {
      const fields = { event: 'guardrail_failed', correlation_id: correlationId, guardrail, direction };
      log.error({ ...fields, ...(letsPass(guardrail) ? { failed_control: 'guardrail' } : {}) }, cause);
    },
  });
  return {
    guardrails,
    async checkInput(checked) {
      if (missing === undefined) return goOn(checked, await guard.checkRequest(textOf(checked)));
      // Its calls are checked, or not made.
      const message = `The guardrail ${missing}, which checks this call, is not in the gateway file.`;
      return fail('RATE_LIMITER_UNAVAILABLE', { message });
    },
    async checkOutput(provided) {
      if (provided.kind === 'stream') {
        const { stream } = provided;
        let refusal: GatewayError | undefined;
        const events = eventsOf(stream);
        const rest = guard.checkStream(events, {
          reader: clientInterface.openEventReader(request.size().choices),
          onFailed: (failed) => {
            refusal = failed.kind === 'failed' ? guardrailUnavailable(failed) : (failed.error as GatewayError);
          },
        });
        // Bytes of audio have no texts, and their type is that of their first piece.
        if (rest === events) return provided;
        const first = rest.next();
        await settledWithin(clock, keepAliveCommentMs, first);
        return { ...provided, stream: { ...stream, opening: [], rest: resumed(first, rest), refusal } };
      }
      const { answer } = provided;
      const { text, isPlain } = answer;
      const checked = await guard.checkAnswer(isPlain ? await rescanned(JSON.stringify({ text })) : answer.json);
      if (checked.kind === 'failed') return guardrailUnavailable(checked);
      if (checked.text === undefined) return provided;
      const finishReasons = checked.isBlocked ? ['content_filter'] : answer.finishReasons;
      const left = isPlain
        ? { text: (JSON.parse(checked.text) as { text: string }).text }
        : { text: checked.text, json: await rescanned(checked.text) };
      return { ...provided, answer: { ...answer, ...left, finishReasons } };
    },
    async checkText(text) {
      const checked = await guard.checkAnswer(answerJson(text));
      return checked.kind === 'failed' ? guardrailUnavailable(checked) : (checked.text ?? text);
    },
  };
}

/** All events of a stream. */
async function* eventsOf({ opening, rest }: OpenStream): AsyncGenerator<EventBatch, void, undefined> {
  yield { events: opening };
  yield* rest;
}

/** Until a stream has begun an error has a status. One that is silent for long has to begin. */
async function settledWithin(clock: Clock, limitMs: number, working: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const cancel = clock.after(limitMs, late.resolve);
  // Its reader gets the fault.
  await Promise.race([working.catch(() => {}), late.promise]);
  cancel();
}

async function* resumed(first: Promise<IteratorResult<EventBatch, void>>, rest: AsyncIterator<EventBatch, void>) {
  for (let next = await first; next.done !== true; next = await rest.next()) yield next.value;
}

/** Of a function call everything is parsed, and only a part of it is in the text. */
const textOf = ({ asksFunction, request }: GuardedCall) => (asksFunction ? jsonTextOf(request.raw) : request.text());

async function goOn(
  { request, clientInterface, scope, passedOn }: GuardedCall,
  checked: GuardedRequest,
): Promise<MaskedRequest | GatewayError | undefined> {
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
      if (checked.text === undefined) return undefined;
      // The parts of a form are sent as they came.
      if (request.form !== undefined) {
        const message = 'A guardrail masks texts of the request, and in a form they cannot be masked.';
        return fail('invalid_request', { reason: 'content_policy_violation', message, param: promptMember });
      }
      const { dropsIdleMembers } = scope.baseUrlRules;
      return readAgain(clientInterface, checked.text, { memory: scope.memory, dropsIdleMembers, passedOn });
    }
  }
}

const guardrailUnavailable = ({ guardrail, cause }: FailedCheck) =>
  fail('RATE_LIMITER_UNAVAILABLE', {
    message: `The guardrail ${guardrail} gave no answer, and no text passes without it.`,
    cause,
  });
