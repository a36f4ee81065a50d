// Looks for due alerts after the charges of a call. An alert that cannot be sent now stays marked as such, and the next call
// of the same owner tries again.
import { cooldownItem } from '../provider-health/index.ts';
import { idBytes } from './alert.ts';
import type { ProviderMark } from './alert-mark.ts';
import { createAlertTries, leaseMs, tryMaxMs } from './alert-tries.ts';
import type { Alerts, AlertsOptions, EndedAttempt } from './alerts.ts';
import { dueProvider, dueShare } from './due-alert.ts';
import { faultOfReceiver } from './post-alert.ts';
import { readSpendings } from './watched-spending.ts';

/** One try of a function, which is billed for it. */
const functionTryMaxMs = 4_000;
/** Of the time of a settlement: the write that ends a try. */
const markWriteMs = 1_000;
const faultLogIntervalMs = 600_000;

export function createAlertSender(options: AlertsOptions): Alerts {
  const { clock, randomness, log, credit, cooldowns, isFunction } = options;
  const tries = createAlertTries(options);
  const newId = () => randomness.bytes(idBytes).toString('base64url');
  const markOf = ({ account }: EndedAttempt) => {
    const name = cooldownItem.markPrefix + account;
    const localMark = tries.latest(name) as ProviderMark | undefined;
    const noted = cooldowns.noted(name) as ProviderMark | undefined;
    // Another process may have written a later one.
    return localMark === undefined || (noted !== undefined && noted.at_ms > localMark.at_ms) ? noted : localMark;
  };
  let faultLoggedAtMs = Number.NEGATIVE_INFINITY;

  function logFault(fault: string): void {
    if (clock.nowMs() - faultLoggedAtMs < faultLogIntervalMs) return;
    faultLoggedAtMs = clock.nowMs();
    log.error({ event: 'alerts_not_sent', failed_control: 'alert', message: `${fault}: no alert is sent` });
  }

  return {
    async look({ at, receiver: readReceiver }, { charged, attempts }, deadline) {
      try {
        const nowMs = clock.nowMs();
        const time = { nowMs, leaseMs, newId };
        const spendings = await Promise.all(charged.map((one) => readSpendings(one, { credit, nowMs })));
        const due = [
          ...spendings.flat().flatMap((spending) => dueShare(spending, at, time) ?? []),
          ...attempts.flatMap((attempt) => dueProvider(attempt, markOf(attempt), time) ?? []),
        ];
        if (due.length === 0) return;
        const receiver = readReceiver();
        const fault = faultOfReceiver(receiver);
        if (fault !== undefined) return logFault(fault);
        const limitMs = isFunction ? Math.min(functionTryMaxMs, deadline.remainingMs() - markWriteMs) : tryMaxMs;
        if (limitMs <= 0) return;
        const begun = due.map((one) => tries.begin(one, receiver, limitMs));
        if (isFunction) await Promise.all(begun);
      } catch (error) {
        log.error({ event: 'alerts_not_looked_at', failed_control: 'alert' }, error);
      }
    },
    close: tries.close,
  };
}
