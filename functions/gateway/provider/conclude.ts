// Builds the one error for all failed attempts of a call. The error tells a client what to do, and whether a retry can
// succeed.
import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import { fail, failRejected, type GatewayError, whereToLook } from '../../../shared/errors/index.ts';
import { stoppedMessage } from '../../../shared/protocol/wire/index.ts';
import type { ByokSource } from '../../../shared/routing/planner/index.ts';
import { type AttemptFailure, agreedParam, ownParam } from '../../../shared/routing/providers/index.ts';
import type { ProviderCall } from '../stages.ts';

const notFoundStatus = 404;

export interface FailedAttempt extends AttemptFailure {
  /** Source of the client's key with which the provider was called; undefined for the gateway's credentials. */
  readonly byok?: ByokSource | undefined;
  /** Absent if no provider was called. */
  readonly provider?: string;
}

export interface LoopOutcome {
  readonly attempts: number;
  readonly deadlineIsOver: boolean;
  /** The place at which the last answer failed the schema, if any failed. */
  readonly schemaMismatch: string | undefined;
}

export function conclude(call: ProviderCall, failures: readonly FailedAttempt[], outcome: LoopOutcome): GatewayError {
  const refusal = failures.find((failure) => failure.refusal !== undefined)?.refusal;
  if (refusal !== undefined) return refusal;
  const [unavailable] = failures.filter(({ isUnavailable }) => isUnavailable);
  if (unavailable !== undefined && failures.every(({ isOurFault }) => isOurFault)) {
    return fail('RATE_LIMITER_UNAVAILABLE', { cause: new Error(unavailable.cause) });
  }
  const kinds = new Set(failures.map(({ kind }) => kind));
  if (outcome.deadlineIsOver || kinds.has('deadline')) return fail('request_deadline_exceeded');
  const { schemaMismatch, attempts } = outcome;
  if (schemaMismatch !== undefined) {
    const message = `No output of the model satisfied the schema: the last one fails at ${schemaMismatch}.`;
    return fail('schema_validation_failed', { attempts, message });
  }
  if (failures.some(({ kind, unusedAnswer }) => kind === 'failed' && unusedAnswer !== undefined))
    return answerRefused(failures);
  const [kind] = kinds;
  if (kinds.size === 1 && kind === 'invalid') return rejectedByAll(call, failures);
  if (kinds.size === 1 && kind === 'rate_limited') return limitedByAll(call, failures);
  const { clientInterface, scope } = call.parsed;
  const { seldomOffered } = clientInterface;
  if (seldomOffered !== undefined && failures.length > 0 && failures.every(({ status }) => status === notFoundStatus)) {
    return fail('not_found', { message: `No provider of the model ${seldomOffered}.` });
  }
  if (kind === 'client_gone' && call.cancelSignal?.aborted === true)
    return fail('no_available_provider', { message: stoppedMessage });
  const cause = new Error(failures.map((failure) => failure.cause).join(', '));
  const { isFinal = false, message: why = 'All eligible providers failed.' } = finalReason(failures);
  return fail('no_available_provider', {
    isFinal,
    message: `${why} ${whereToLook(scope.correlationId)}`,
    cause,
  });
}

/**
 * Returns the error for a paid answer that was refused, because a retry would be paid once more, and end the same way.
 */
const answerRefused = (failures: readonly AttemptFailure[]): GatewayError =>
  fail('no_available_provider', {
    isFinal: true,
    message:
      'The provider finished an answer that cannot be handed on: too large, no stream, or only parts. It is charged.',
    cause: new Error(failures.map(({ cause }) => cause).join(', ')),
  });

/** Approximate bytes of a token in prose or code. */
const bytesPerToken = 4;

/**
 * Returns the error if every provider rejected the request. The error has a `reason` only if all providers named the
 * same reason, and the text of the first provider that sent a text.
 */
function rejectedByAll({ parsed, modelCall }: ProviderCall, failures: readonly AttemptFailure[]): GatewayError {
  const { request, plan, size } = modelCall;
  const [reason, ...others] = new Set(failures.map((failure) => failure.reason));
  const quoted = failures.find(({ providerText }) => providerText?.forClient !== undefined);
  const providerText = quoted?.providerText?.forClient;
  const json = request.text();
  const agreed = others.length === 0 ? reason : undefined;
  const contextTokens = Math.max(...plan.map(({ entry }) => entry.context_length));
  const promptTokens = Math.ceil(size.textBytes / bytesPerToken) + (size.mediaTokens ?? 0);
  const rejection = {
    providerText,
    reason: quoted === undefined ? agreed : quoted.reason,
    promptTokens,
    contextTokens,
  };
  const whole = parsed.clientInterface.repairWords?.(rejection);
  const text = whole ?? providerText;
  const advice = quoted !== undefined && request.stream ? adviceAfter(quoted) : undefined;
  const words = text === undefined ? undefined : { text, isWholeMessage: whole !== undefined, advice };
  const { providerCode } = quoted ?? failures.find((failure) => failure.providerCode !== undefined) ?? {};
  if (failures.every(({ status }) => status === notFoundStatus)) {
    return fail('not_found', { message: 'The provider does not know the thread.', providerWords: words, providerCode });
  }
  return failRejected({
    reason: agreed,
    agreedParam: agreedParam(failures, json),
    namedParam: ownParam(quoted?.param, json),
    words,
    providerCode,
    promptMember: request.promptMember,
    contextLength: contextTokens,
  });
}

/**
 * Returns advice if the provider refuses a field that the gateway added, because the client cannot remove this field.
 */
const adviceAfter = ({ param, providerText }: AttemptFailure): string | undefined =>
  /\bstream_options\b/.test(`${param} ${providerText?.forClient}`)
    ? 'The gateway adds `stream_options` to learn what a stream has used; for a provider that refuses it the gateway file says `stream_usage: false`.'
    : undefined;

/** Returns the error if every provider is at its limit, with the shortest of their waits. */
function limitedByAll({ modelCall: { plan } }: ProviderCall, failures: readonly AttemptFailure[]): GatewayError {
  const waits = failures.map(({ retryAfterSeconds }) => Math.max(1, Math.ceil(retryAfterSeconds ?? 1)));
  const retryAfterSeconds = Math.min(...waits);
  const isOwnLimit = failures.some(({ cause }) => cause === 'own_limit');
  const limits = isOwnLimit ? [...new Set(plan.map(limitsText))].filter((text) => text !== undefined) : [];
  const why =
    limits.length === 0 ? 'All eligible providers are rate limited' : `Limits are reached: ${limits.join('; ')}`;
  if (!Number.isFinite(retryAfterSeconds)) {
    const message = `The call is more requests than a provider allows in a minute: ${limits.join('; ')}. Send fewer inputs, or images, in one call.`;
    return fail('rate_limited', { isFinal: true, message });
  }
  return fail('rate_limited', { retryAfterSeconds, message: `${why}; try again in ${retryAfterSeconds} s.` });
}

/** Returns the limits as the list of models shows them, if any. */
function limitsText({ provider, entry }: Candidate): string | undefined {
  const limits = [
    [entry.rate_limit_rpm, 'requests a minute'],
    [entry.rate_limit_tpm, 'tokens a minute'],
    [entry.rate_limit_tpd, 'tokens a day'],
  ] as const;
  const texts = limits.flatMap(([limit, unit]) => (limit === null ? [] : [`${limit} ${unit}`]));
  return texts.length === 0 ? undefined : `${provider.id} ${texts.join(', ')}`;
}

/** Explains whose fault the failure is, if a retry would end the same way. */
export function finalReason(failures: readonly FailedAttempt[]): {
  readonly isFinal?: boolean;
  readonly message?: string;
} {
  const refusals = failures.filter(({ refusedCredential, hasNoQuota }) => refusedCredential || hasNoQuota);
  if (refusals.some(({ byok }) => byok === 'header')) {
    return {
      isFinal: true,
      message: 'The provider refused the key of the x-byok-key header, or its account has no quota.',
    };
  }
  const byokRefusals = refusals.filter(({ byok }) => byok === 'connection');
  if (refusals.length < failures.length) {
    const providers = [...new Set(byokRefusals.map(({ provider }) => provider))].join(', ');
    const reason = `${providers} refused the BYOK key that the workspace has stored, or its account has no quota.`;
    return byokRefusals.length === 0 ? {} : { message: `All eligible providers failed; ${reason}` };
  }
  if (refusals.length === 0) return {};
  if (byokRefusals.length > 0) {
    const others = byokRefusals.length < refusals.length ? ", and providers refused the gateway's own" : '';
    return {
      isFinal: true,
      message: `A BYOK key that the workspace has stored was refused by its provider, or its account has no quota${others}: who stored it has to correct this.`,
    };
  }
  const what = refusals.every(({ hasNoQuota }) => hasNoQuota)
    ? "The gateway's accounts at its providers have no quota left"
    : "The providers refused the gateway's own credentials";
  return { isFinal: true, message: `${what}: its operator has to correct this.` };
}
