// The way of one call through providers: a bar for each attempt, at its place in the time of the call.
import type { ManagedCall, ShownAttempt } from '../connection/documents.ts';
import { duration, none } from './shown-values.ts';

interface Bar extends ShownAttempt {
  readonly startMs: number;
}

/** Attempts follow each other to the end of the call; the gateway's own time comes before them. */
function barsOf({ attempts, total_ms }: ManagedCall): readonly Bar[] {
  const attemptsMs = attempts.reduce((sum, { ms }) => sum + ms, 0);
  let startMs = Math.max(0, total_ms - attemptsMs);
  return attempts.map((attempt) => {
    const bar = { ...attempt, startMs };
    startMs += attempt.ms;
    return bar;
  });
}

export const TimeLine = ({ call }: { readonly call: ManagedCall }) => {
  const bars = barsOf(call);
  const wholeMs = Math.max(1, call.total_ms, ...bars.map(({ startMs, ms }) => startMs + ms));
  const percent = (ms: number) => `${(100 * ms) / wholeMs}%`;
  if (bars.length === 0) return <p class="empty">{withoutAttempts(call)}</p>;
  return (
    <ol class="time-line" aria-label="Attempts in their order">
      {bars.map((bar, at) => (
        <li key={at}>
          <span class="attempt">
            <strong>{bar.provider}</strong> <Outcome outcome={bar.outcome} />{' '}
            {bar.model !== undefined && bar.model !== call.model && <span>{bar.model} </span>}
            <span class="muted">{duration(bar.ms)}</span>
          </span>
          <span class="track" aria-hidden="true">
            <span
              class={`bar ${bar.outcome === 'ok' ? 'good' : 'bad'}`}
              style={{ left: percent(bar.startMs), width: `max(3px, ${percent(bar.ms)})` }}
            />
            {call.first_output_ms !== null && at === bars.length - 1 && (
              <span class="first-output" style={{ left: percent(call.first_output_ms) }} />
            )}
          </span>
          {call.first_output_ms !== null && at === bars.length - 1 && (
            <span class="provider-text">First output after {duration(call.first_output_ms)}</span>
          )}
          {bar.schema_mismatch !== undefined && (
            <span class="provider-text">
              The answer does not match the schema: <code>{bar.schema_mismatch}</code>
            </span>
          )}
          {bar.provider_text !== undefined && <code class="provider-text">{bar.provider_text}</code>}
        </li>
      ))}
    </ol>
  );
};

function withoutAttempts({ cache_hit, replay_of }: ManagedCall): string {
  if (replay_of !== null) return 'No provider was called: the stored answer of an earlier call was given again.';
  return cache_hit ? 'No provider was called: the answer came from the cache.' : 'No provider was called.';
}

/** One word, with a mark that is not the colour alone. */
export const Outcome = ({ outcome }: { readonly outcome: string }) => (
  <span class={`outcome ${outcome === 'ok' ? 'good' : 'bad'}`}>
    <span aria-hidden="true">{outcome === 'ok' ? '✓' : '✗'} </span>
    {outcome}
  </span>
);

/** `globex status_500 → acme` */
export const pathOf = ({ attempts, provider, cache_hit, replay_of }: ManagedCall): string => {
  if (attempts.length === 0) return replay_of !== null ? 'replay' : cache_hit ? 'cache' : (provider ?? none);
  return attempts.map((one) => (one.outcome === 'ok' ? one.provider : `${one.provider} ${one.outcome}`)).join(' → ');
};
