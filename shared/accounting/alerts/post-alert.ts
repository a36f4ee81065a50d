// Makes one try to deliver an alert. A fault contains no text of the receiver, and no part of its URL.
import { createOutgoingCalls, readText } from '../../foundation/outgoing/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { type Alert, bodyOf, signatureOf } from './alert.ts';
import type { AlertReceiver } from './alerts.ts';

const connectTimeoutMs = 3_000;
/** Bytes of an answer that are read, because only its status matters. */
const answerMaxBytes = 64 * 1024;

/**
 * The outcome of a try. `status` is the status from the receiver. Without a status it is unknown whether the alert
 * arrived.
 */
type AlertDelivery =
  | { readonly isDelivered: true; readonly status: number }
  | { readonly isDelivered: false; readonly status?: number; readonly fault: string };

/** Returns why nothing can be sent to the receiver; undefined when it is ready. */
export function faultOfReceiver({ url, secret }: AlertReceiver): string | undefined {
  if (url === undefined || url === '') return 'the URL of service.alerts is not set';
  const { protocol } = URL.parse(url) ?? {};
  if (protocol !== 'https:' && protocol !== 'http:') return 'the URL of service.alerts is no URL of https or http';
  return secret === undefined || secret === '' ? 'the secret of service.alerts is not set' : undefined;
}

/** Sends the alert. Never rejects. `ended` aborts the try. */
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
    // A redirect counts as a failure, because an alert is sent to its own address only.
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
