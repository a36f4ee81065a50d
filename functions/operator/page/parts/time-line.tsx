// Shows the parts of one call as bars at their places in its time: admission, guardrails, each attempt at a provider,
// settlement.
import type { ComponentChildren } from 'preact';
import { connectionFaultText } from '../../../../shared/foundation/constants/index.ts';
import type { ManagedCall } from '../connection/documents.ts';
import { duration, none } from './shown-values.ts';

type TimedPart = NonNullable<ManagedCall['time_line']>[number];

type ShownPart = Omit<TimedPart, 'start_ms'> & { readonly start_ms?: number };

/**
 * Builds the parts from the attempts alone, because records of former releases do not contain when their attempts
 * began.
 */
const attemptsAlone = ({ attempts }: ManagedCall): readonly ShownPart[] =>
  attempts.map(({ ms }, at) => ({ part: 'attempt', at, ms }));

export const TimeLine = ({ call }: { readonly call: ManagedCall }) => {
  const timed = (call.time_line ?? []).toSorted((one, other) => one.start_ms - other.start_ms);
  const wholeMs = Math.max(1, call.total_ms, ...timed.map(({ start_ms, ms }) => start_ms + ms));
  const percent = (ms: number) => `${(100 * ms) / wholeMs}%`;
  const parts: readonly ShownPart[] = timed.length > 0 ? timed : attemptsAlone(call);
  const firstOutput = timed.length === 0 ? undefined : attemptOfFirstOutput(call, timed);
  return (
    <>
      {call.attempts.length === 0 && <p class="empty">{withoutAttempts(call)}</p>}
      {parts.length > 0 && (
        <ol class="time-line" aria-label="Parts of the call in their order">
          {parts.map((timedPart) => {
            const { part, at = 0, start_ms: startMs, ms } = timedPart;
            const isFirst = timedPart === firstOutput;
            return (
              <li key={`${part} ${at}`}>
                <span class="attempt">
                  {titles[part](call, at)} <span class="muted">{duration(ownMs(call, timedPart))}</span>
                </span>
                {startMs !== undefined && (
                  <span class="track" aria-hidden="true">
                    <span
                      class={`bar ${colorOf(call, timedPart)}`}
                      style={{ left: `min(${percent(startMs)}, 100% - 3px)`, width: `max(3px, ${percent(ms)})` }}
                    />
                    {isFirst && call.first_output_ms !== null && (
                      <span
                        class="first-output"
                        style={{ left: `min(${percent(call.first_output_ms)}, 100% - 2px)` }}
                      />
                    )}
                  </span>
                )}
                {isFirst && (
                  <span class="provider-text">First output after {duration(call.first_output_ms)} of the call</span>
                )}
                {part === 'attempt' && <Words call={call} at={at} />}
              </li>
            );
          })}
        </ol>
      )}
    </>
  );
};

/**
 * Returns the time that a part itself took. The checks of a stream have pauses between them, so their bar is longer.
 */
const ownMs = ({ guardrails }: ManagedCall, { part, at = 0, ms }: ShownPart): number =>
  part === 'guardrail' ? (guardrails?.[at]?.ms ?? ms) : ms;

/** The first output belongs to the attempt that was running at that time. */
function attemptOfFirstOutput({ first_output_ms: outputMs }: ManagedCall, timed: readonly TimedPart[]) {
  if (outputMs === null) return undefined;
  return timed.findLast(({ part, start_ms }) => part === 'attempt' && start_ms <= outputMs);
}

const titles: Readonly<Record<TimedPart['part'], (call: ManagedCall, at: number) => ComponentChildren>> = {
  admission: () => <strong>admission</strong>,
  settlement: () => <strong>settlement</strong>,
  guardrail: ({ guardrails }, at) => {
    const { id = '', direction = '', action = '', checks = 1 } = guardrails?.[at] ?? {};
    return (
      <>
        <strong>guardrail {id}</strong> on {direction}: {action}
        {checks > 1 && <span class="muted">, {checks} checks</span>}
      </>
    );
  },
  attempt: ({ attempts, model }, at) => {
    const attempt = attempts[at];
    return (
      attempt && (
        <>
          <strong>{attempt.provider}</strong> <Outcome outcome={attempt.outcome} />
          {attempt.model !== undefined && attempt.model !== model && <span> {attempt.model}</span>}
        </>
      )
    );
  },
};

const stopped: readonly (string | undefined)[] = ['block', 'failed'];

function colorOf({ attempts, guardrails }: ManagedCall, { part, at = 0 }: ShownPart): string {
  if (part === 'attempt') return attempts[at]?.outcome === 'ok' ? 'good' : 'bad';
  return part === 'guardrail' && stopped.includes(guardrails?.[at]?.action) ? 'bad' : 'own';
}

/** Shows the details of an attempt in addition to its outcome. */
const Words = ({ call: { attempts }, at }: { readonly call: ManagedCall; readonly at: number }) => {
  const { reason, schema_mismatch: mismatch, provider_text: text } = attempts[at] ?? {};
  return (
    <>
      {reason !== undefined && <span class="provider-text">{connectionFaultText(reason)}</span>}
      {mismatch !== undefined && (
        <span class="provider-text">
          The answer does not match the schema: <code>{mismatch}</code>
        </span>
      )}
      {text !== undefined && <code class="provider-text">{text}</code>}
    </>
  );
};

function withoutAttempts({ cache_hit, replay_of }: ManagedCall): string {
  if (replay_of !== null) return 'No provider was called: the stored answer of an earlier call was given again.';
  return cache_hit ? 'No provider was called: the answer came from the cache.' : 'No provider was called.';
}

/** Shows an outcome as one word, with a mark so that the colour is not its only sign. */
export const Outcome = ({ outcome }: { readonly outcome: string }) => (
  <span class={`outcome ${outcome === 'ok' ? 'good' : 'bad'}`}>
    <span aria-hidden="true">{outcome === 'ok' ? '✓' : '✗'} </span>
    {outcome}
  </span>
);

/** Writes the path of a call: `globex status_500 → acme`. */
export const pathOf = ({ attempts, provider, cache_hit, replay_of }: ManagedCall): string => {
  if (attempts.length === 0) return replay_of !== null ? 'replay' : cache_hit ? 'cache' : (provider ?? none);
  return attempts.map((one) => (one.outcome === 'ok' ? one.provider : `${one.provider} ${one.outcome}`)).join(' → ');
};
