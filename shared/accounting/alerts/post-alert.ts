// One try to deliver an alert. No word of the receiver, and nothing of its URL, is in a fault.
import { createOutgoingCalls, readText } from '../../foundation/outgoing/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { type Alert, bodyOf, signatureOf } from './alert.ts';
import type { AlertReceiver } from './alerts.ts';

const connectTimeoutMs = 3_000;
/** More of an answer is not read: its status says all. */
const answerMaxBytes = 64 * 1024;

/** `status`: of the receiver's answer. Without one it is unknown whether the alert arrived. */
type AlertDelivery =
  | { readonly isDelivered: true; readonly status: number }
  | { readonly isDelivered: false; readonly status?: number; readonly fault: string };

/** Why nothing can be sent to it; undefined when it is ready. */
export function faultOfReceiver({ url, secret }: AlertReceiver): string | undefined {
  if (url === undefined || url === '') return 'the URL of service.alerts is not set';
  const { protocol } = URL.parse(url) ?? {};
  if (protocol !== 'https:' && protocol !== 'http:') return 'the URL of service.alerts is no URL of https or http';
  return secret === undefined || secret === '' ? 'the secret of service.alerts is not set' : undefined;
}

/** Never rejects. `ended` gives up. */
export async function postAlert(
  { url = '', secret = null }: AlertReceiver,
  alert: Alert,
  { clock, limitMs, ended }: { readonly clock: Clock; readonly limitMs: number; readonly ended?: AbortSignal },
): Promise<AlertDelivery> {
  const late = new AbortController();
  const cancel = clock.after(limitMs, () => late.abort());
  const signal = ended === undefined ? late.signal : AbortSignal.any([late.signal, ended]);
  const calls = createOutgoingCalls({ clock, socketsMax: 1, idleSocketMs: limitMs });
  const body = bodyOf(alert);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'gw',
    ...(secret === null ? {} : { 'x-gw-signature': signatureOf(body, secret, clock.nowMs()) }),
  };
  try {
    const request = { url: new URL(url), method: 'POST', headers, body, connectTimeoutMs, signal } as const;
    const { status, body: answer } = await calls.send(request);
    await readText(answer, answerMaxBytes).catch(() => undefined);
    // A redirect too: an alert reaches its own address or none.
    return status >= 200 && status < 300
      ? { isDelivered: true, status }
      : { isDelivered: false, status, fault: `status ${status}` };
  } catch {
    return { isDelivered: false, fault: late.signal.aborted ? `no answer within ${limitMs} ms` : 'no connection' };
  } finally {
    cancel();
    calls.close();
  }
}
