// Tries of alerts: claimed, sent and repeated, a bounded number at a time.
import { createCache } from '../../foundation/cache/index.ts';
import { waitAtMost } from '../../foundation/time/index.ts';
import type { Item } from '../../storage/store/index.ts';
import { type AlertMark, claimMark, type MarkPlace, triesMax } from './alert-mark.ts';
import type { AlertReceiver, AlertsOptions } from './alerts.ts';
import type { DueAlert } from './due-alert.ts';
import { postAlert } from './post-alert.ts';

/** One try of a process that lives: three of them and the pauses end within a minute. */
export const tryMaxMs = 10_000;
/** Before the second and the third try of a process. */
const pausesMs = [5_000, 20_000] as const;
/** A try whose process ended without a word may be followed by another's after this. */
export const leaseMs = tryMaxMs + pausesMs[0];
/** Alerts that a process sends or has to try again. Those beyond are not claimed, and stay due. */
const underWayMax = 100;
/** How long a process that stops waits for what it is sending. */
const closeMaxMs = 1_500;
/** Marks that a process remembers. */
const marksMax = 1_000;
/** Each after the first follows another process that came first. */
const claimsMax = 4;

interface AlertTries {
  /** Undefined where too many are under way, or this one is. The promise never rejects. */
  begin(due: DueAlert, receiver: AlertReceiver, limitMs: number): Promise<void> | undefined;
  /** The mark under an attribute that few items have, as this process has seen it last. */
  latest(attribute: string): AlertMark | undefined;
  close(): Promise<void>;
}

type TriesOptions = Pick<AlertsOptions, 'store' | 'clock' | 'log' | 'isFunction' | 'persist'>;

export function createAlertTries({ store, clock, log, isFunction, persist }: TriesOptions): AlertTries {
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

  /** The due alert whose try is the caller's now: where another process came first, what is due behind its mark. */
  async function claim(due: DueAlert): Promise<DueAlert | undefined> {
    let wanted: DueAlert | undefined = due;
    for (let tried = 0; wanted !== undefined && tried < claimsMax; tried += 1) {
      const claimed = await write(wanted.place, wanted.seen, wanted.mark);
      if (claimed === 'claimed') return wanted;
      wanted = wanted.behind(claimed);
    }
    return undefined;
  }

  /** Ends when the alert is delivered, or given up, or the next try is another process's. */
  async function deliver(wanted: DueAlert, receiver: AlertReceiver, limitMs: number): Promise<void> {
    const claimed = await claim(wanted);
    if (claimed === undefined) return;
    const { place, mark, alert } = claimed;
    const delivery = await postAlert(receiver, alert, { clock, limitMs, ended: ending.signal });
    const { tries = triesMax, due_at_ms: _due, ...sent } = mark;
    const fields = { alert: alert.type, alert_id: alert.id, workspace_id: alert.workspace };
    if (delivery.isDelivered) {
      log.info({ event: 'alert_sent', ...fields });
      await persist(() => write(place, mark, { ...sent, tries: undefined }));
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

/** Waits that end early, with false, when the process stops. */
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
