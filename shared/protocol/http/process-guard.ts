// Logs unhandled rejections as a last resort, never as a way of handling errors. An unhandled rejection would end the
// process together with the answers that it is writing. The rejection is logged instead, and the process continues.
import type { Log } from '../../foundation/log/index.ts';

/** The part of `process` that the guard needs. */
interface RejectionSource {
  on(event: 'unhandledRejection', listener: (cause: unknown) => void): unknown;
}

const guarded = new WeakSet<RejectionSource>();

/** Installs the guard; called by an entry point. A second call for the same process changes nothing. */
export function guardProcess(log: Log, source: RejectionSource = process): void {
  if (guarded.has(source)) return;
  guarded.add(source);
  source.on('unhandledRejection', (cause) => log.error({ event: 'unhandled_rejection' }, cause));
}
