// Finds due alerts after the charges of a call. An alert that cannot be sent now stays marked as due, and the next call
// of the same owner tries again.

import { createCache } from '../../foundation/cache/index.ts';
import { waitAtMost } from '../../foundation/time/index.ts';
import type { Item } from '../../storage/store/index.ts';
import { alertQuietMs, cooldownItem } from '../provider-health/index.ts';
import { type Alert, idBytes } from './alert.ts';
import {
  type AlertMark,
  claimMark,
  type MarkPlace,
  type ProviderMark,
  readShareMark,
  type ShareMark,
  triesMax,
} from './alert-mark.ts';
import type { AlertReceiver, Alerts, AlertsOptions, EndedAttempt } from './alerts.ts';
import { faultOfReceiver, postAlert } from './post-alert.ts';
import { passedShare, readSpendings, type WatchedSpending } from './watched-spending.ts';

/** Time limit of one try in a function, which is billed for the time. */
const functionTryMaxMs = 4_000;
/** Part of a settlement's time that is reserved for the write that ends a try. */
const markWriteMs = 1_000;
const faultLogIntervalMs = 600_000;

export function createAlertSender(options: AlertsOptions): Alerts {
  const { clock, randomness, log, credit, cooldowns, isFunction } = options;
  const tries = createAlertTries(options);
  const newId = () => randomness.bytes(idBytes).toString('base64url');
  const markOf = ({ account }: EndedAttempt) => {
    const name = cooldownItem.markPrefix + account;
    const localMark = tries.latest(name) as ProviderMark | undefined;
    const sharedMark = cooldowns.noted(name) as ProviderMark | undefined;
    // Another process may have written a later mark.
    return localMark === undefined || (sharedMark !== undefined && sharedMark.at_ms > localMark.at_ms)
      ? sharedMark
      : localMark;
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
        const deliveries = due.map((one) => tries.begin(one, receiver, limitMs));
        if (isFunction) await Promise.all(deliveries);
      } catch (error) {
        log.error({ event: 'alerts_not_looked_at', failed_control: 'alert' }, error);
      }
    },
    close: tries.close,
  };
}

// Claims, sends and repeats alerts, a bounded number at a time.

/**
 * Time limit of one try in a process that outlives its calls, so that three tries and the pauses end within a minute.
 */
const tryMaxMs = 10_000;
/** Pauses before the second and the third try of a process. */
const pausesMs = [5_000, 20_000] as const;
/** Time after which another process may make the next try, if the process of a try died. */
const leaseMs = tryMaxMs + pausesMs[0];
/** Maximum number of alerts that a process sends or has to try again. Further alerts are not claimed, and stay due. */
const underWayMax = 100;
/** Time for which a process that stops waits for running tries. */
const closeMaxMs = 1_500;
/** Maximum number of marks that a process remembers. */
const marksMax = 1_000;
/** Maximum number of claims of an alert. A claim is repeated if another process was faster. */
const claimsMax = 4;

interface AlertTries {
  /**
   * Begins to send the alert. Undefined if this alert, or too many others, are being sent already. The promise never
   * rejects.
   */
  begin(due: DueAlert, receiver: AlertReceiver, limitMs: number): Promise<void> | undefined;
  /** Returns the last mark, as far as this process knows, of an attribute that few items have. */
  latest(attribute: string): AlertMark | undefined;
  close(): Promise<void>;
}

type TriesOptions = Pick<AlertsOptions, 'store' | 'clock' | 'log' | 'isFunction' | 'persist'>;

function createAlertTries({ store, clock, log, isFunction, persist }: TriesOptions): AlertTries {
  const underWay = new Map<string, Promise<void>>();
  const ending = new AbortController();
  const pauses = createPauses(clock);
  const marks = createCache<AlertMark>({ sizeMax: marksMax });

  async function write(place: MarkPlace, seen: AlertMark | undefined, mark: AlertMark): Promise<'claimed' | Item> {
    const claimed = await claimMark(store, place, seen, mark, clock.nowMs());
    const there = claimed === 'claimed' ? mark : (claimed[place.attribute] as AlertMark | undefined);
    if (there === undefined) marks.delete(place.attribute);
    else marks.set(place.attribute, there);
    return claimed;
  }

  /**
   * Claims a due alert, and returns the alert whose try now belongs to the caller. If another process was faster, that
   * is the alert that is due after the other process's mark.
   */
  async function claim(due: DueAlert): Promise<DueAlert | undefined> {
    let alert: DueAlert | undefined = due;
    for (let tried = 0; alert !== undefined && tried < claimsMax; tried += 1) {
      const claimed = await write(alert.place, alert.seen, alert.mark);
      if (claimed === 'claimed') return alert;
      alert = alert.behind(claimed);
    }
    return undefined;
  }

  /**
   * Sends the alert. Resolves when the alert is delivered or abandoned, or when the next try belongs to another
   * process.
   */
  async function deliver(wanted: DueAlert, receiver: AlertReceiver, limitMs: number): Promise<void> {
    const claimed = await claim(wanted);
    if (claimed === undefined) return;
    const { place, mark, alert } = claimed;
    const delivery = await postAlert(receiver, alert, { clock, limitMs, ended: ending.signal });
    const { tries = triesMax, due_at_ms: _due, ...markFields } = mark;
    const fields = { alert: alert.type, alert_id: alert.id, workspace_id: alert.workspace };
    if (delivery.isDelivered) {
      log.info({ event: 'alert_sent', ...fields });
      await persist(() => write(place, mark, { ...markFields, tries: undefined }));
      return;
    }
    if (ending.signal.aborted) return;
    const message = `${delivery.fault}, try ${tries} of ${triesMax}`;
    log.error({ event: 'alert_failed', ...fields, message, ...(tries < triesMax ? {} : { failed_control: 'alert' }) });
    const pauseMs = pausesMs[tries - 1];
    if (isFunction) await persist(() => write(place, mark, { ...mark, due_at_ms: 0 }));
    else if (pauseMs !== undefined && (await pauses.wait(pauseMs))) {
      const next = { ...mark, tries: tries + 1, due_at_ms: clock.nowMs() + leaseMs };
      await deliver({ ...claimed, seen: mark, mark: next }, receiver, limitMs);
    }
  }

  return {
    latest: (attribute) => marks.get(attribute),
    begin(due, receiver, limitMs) {
      const { table, key, attribute } = due.place;
      const { share, type } = due.alert;
      const name = [table, key, attribute, type, share?.percent].join(' ');
      if (pauses.isClosed() || underWay.has(name) || underWay.size >= underWayMax) return undefined;
      const delivered = deliver(due, receiver, limitMs)
        .catch((error: unknown) => log.error({ event: 'alert_not_marked', failed_control: 'alert' }, error))
        .finally(() => underWay.delete(name));
      underWay.set(name, delivered);
      return delivered;
    },

    async close() {
      pauses.close();
      const all = Promise.all(underWay.values());
      await waitAtMost(clock, closeMaxMs, all, () => ending.abort());
      await all;
    },
  };
}

/** Creates waits that end early, with false, when the process stops. */
function createPauses(clock: AlertsOptions['clock']) {
  const waiting = new Set<() => void>();
  let isClosed = false;
  return {
    isClosed: () => isClosed,
    wait(delayMs: number): Promise<boolean> {
      if (isClosed) return Promise.resolve(false);
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const stop = () => {
        cancel();
        resolve(false);
      };
      const cancel = clock.after(delayMs, () => {
        waiting.delete(stop);
        resolve(true);
      });
      waiting.add(stop);
      return promise;
    },
    close() {
      isClosed = true;
      for (const stop of waiting) stop();
      waiting.clear();
    },
  };
}

// Decides which alert is due, by the observations and by the last mark. Pure.

interface DueAlert {
  readonly place: MarkPlace;
  /** The last mark before the alert. */
  readonly seen: AlertMark | undefined;
  readonly mark: AlertMark;
  readonly alert: Alert;
  /** Returns the alert that is due if another process has written the item. */
  readonly behind: (item: Item) => DueAlert | undefined;
}

interface TryTime {
  readonly nowMs: number;
  /** Time after which other processes may try again if this process reports nothing. */
  readonly leaseMs: number;
  readonly newId: () => string;
}

function dueShare(spending: WatchedSpending, at: readonly number[], time: TryTime): DueAlert | undefined {
  const { place, mark: seen, spent, limit, scope, from } = spending;
  const percent = passedShare(spending, at);
  const tryOfScope = seen?.scope === scope ? seen : undefined;
  const sinceBefore = from === undefined ? {} : { from };
  const mark =
    percent === undefined
      ? nextTry(tryOfScope, time)
      : { ...firstTry(time), scope, percent, spent, limit, ...sinceBefore };
  if (mark === undefined) return undefined;
  return {
    ...{ place, seen, mark, alert: shareAlert(spending, mark) },
    behind: (item) => dueShare({ ...spending, mark: readShareMark(item, place.attribute) }, at, time),
  };
}

/** Returns the mark of the first try, if nothing was alerted yet. */
const firstTry = ({ nowMs, leaseMs, newId }: TryTime) => ({
  id: newId(),
  at_ms: nowMs,
  tries: 1,
  due_at_ms: nowMs + leaseMs,
});

/** Returns the next try; undefined if the alert was delivered or abandoned, or is not due yet. */
function nextTry<Mark extends AlertMark>(mark: Mark | undefined, { nowMs, leaseMs }: TryTime): Mark | undefined {
  const { tries = triesMax, due_at_ms: dueAtMs = 0 } = mark ?? {};
  if (mark === undefined || tries >= triesMax || dueAtMs > nowMs) return undefined;
  return { ...mark, tries: tries + 1, due_at_ms: nowMs + leaseMs };
}

const shareAlert = (
  { type, workspace, key, provider, period }: WatchedSpending,
  { id, at_ms, percent, spent, limit }: ShareMark,
): Alert => ({ type, id, atMs: at_ms, workspace, key, provider, share: { percent, spent, limit, period } });

/** Returns the due alert about a provider. `seen` is the mark of its account. */
function dueProvider(attempt: EndedAttempt, seen: ProviderMark | undefined, time: TryTime): DueAlert | undefined {
  const { account, model } = attempt;
  const state = nextState(attempt, seen, time.nowMs);
  const mark = state === undefined ? nextTry(seen, time) : { ...firstTry(time), state, model };
  if (mark === undefined) return undefined;
  const { table, key, markPrefix, lifeSeconds } = cooldownItem;
  const place = { table, key, attribute: markPrefix + account, lifeSeconds };
  return {
    ...{ place, seen, mark, alert: providerAlert(attempt, mark) },
    behind: (item) => dueProvider(attempt, item[place.attribute] as ProviderMark | undefined, time),
  };
}

/**
 * Returns the new state; undefined if nothing changed. A provider has recovered when the model of the failed call
 * answers, because other models may have answered all the time.
 */
function nextState(
  { outcome, model, startedAtMs, coolsForAll }: EndedAttempt,
  seen: ProviderMark | undefined,
  nowMs: number,
): ProviderMark['state'] | undefined {
  const isWell = seen === undefined || (seen.state === 'back' && nowMs >= seen.at_ms + alertQuietMs);
  if (outcome === 'ok') {
    const isBack = seen !== undefined && seen.state !== 'back' && seen.model === model && startedAtMs > seen.at_ms;
    return isBack && !coolsForAll ? 'back' : undefined;
  }
  if (outcome === 'failed') return isWell && coolsForAll ? 'failing' : undefined;
  return isWell || seen?.state === 'failing' ? outcome : undefined;
}

const typeOf = {
  refused: 'provider_credential_refused',
  empty: 'provider_credential_empty',
  failing: 'provider_failing',
  back: 'provider_back',
} as const;

const providerAlert = ({ provider, credential }: EndedAttempt, { id, at_ms, state, model }: ProviderMark): Alert => ({
  type: typeOf[state],
  id,
  atMs: at_ms,
  provider,
  credential,
  model,
});
