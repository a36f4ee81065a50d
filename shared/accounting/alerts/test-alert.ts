// Sends one alert that an operator asks for, outside of any call. It writes no mark, so it is sent each time.
import type { Randomness } from '../../foundation/ids/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { idBytes } from './alert.ts';
import type { AlertReceiver } from './alerts.ts';
import { faultOfReceiver, postAlert } from './post-alert.ts';

/** Time limit. A person waits for the result. */
const limitMs = 10_000;

interface TestAlert {
  readonly id: string;
  /** Status of the answer, if there was one. */
  readonly status: number | null;
  /** Reason why the alert did not arrive, or null. */
  readonly fault: string | null;
}

/** Sends the alert. Never rejects. */
export async function sendTestAlert(
  receiver: AlertReceiver,
  { clock, randomness }: { readonly clock: Clock; readonly randomness: Pick<Randomness, 'bytes'> },
): Promise<TestAlert> {
  const id = randomness.bytes(idBytes).toString('base64url');
  const unusable = faultOfReceiver(receiver);
  if (unusable !== undefined) return { id, status: null, fault: unusable };
  const delivery = await postAlert(receiver, { type: 'test', id, atMs: clock.nowMs() }, { clock, limitMs });
  return { id, status: delivery.status ?? null, fault: delivery.isDelivered ? null : delivery.fault };
}
