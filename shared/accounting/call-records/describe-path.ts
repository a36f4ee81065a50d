// The way of a call through its providers in one line, for people: `globex status_500 → acme`.
import type { CallAttempt } from './call-record.ts';
import type { CallRecord } from './record-members.ts';

/** What is not known of an attempt is left out. */
export function describePath({ attemptLog, attemptCauses, provider, cacheHit, replayOf }: CallRecord): string {
  if (replayOf !== undefined) return 'replay';
  if (cacheHit) return 'cache';
  const steps =
    attemptLog === undefined
      ? [...attemptCauses, ...(provider === undefined ? [] : [provider])]
      : attemptLog.map((attempt) => `${attempt.provider}${suffixOf(attempt)}`);
  return steps.join(' → ') || '-';
}

/** Nothing but the operator can correct this, so it is said in words. */
const keyRefused = /^(status|error_object)_40[13]$/;

function suffixOf({ outcome }: CallAttempt): string {
  if (outcome === 'ok') return '';
  return keyRefused.test(outcome) ? ` ${outcome} (key refused)` : ` ${outcome}`;
}
