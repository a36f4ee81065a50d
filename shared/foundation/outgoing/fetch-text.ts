// Fetches a small public document from another server. It is not for providers, because no part of a client's request
// is sent along, and nothing is retried.
import type { Clock } from '../time/index.ts';
import { readText } from './outgoing-answer.ts';
import { createOutgoingCalls } from './outgoing-calls.ts';
import type { SocketPoolOptions } from './socket-pool.ts';

interface DocumentRequest extends Pick<SocketPoolOptions, 'proxy'> {
  readonly url: URL;
  /** Time limit of the whole exchange. */
  readonly timeoutMs: number;
  /** Bound of the answer. A longer answer is refused as soon as its length is known. */
  readonly bytesMax: number;
  readonly clock: Clock;
}

const okStatus = 200;

/** Returns the text of a 200. Throws an Error that names the fault and contains no text of the other server. */
export async function fetchText({ url, timeoutMs, bytesMax, clock, proxy }: DocumentRequest): Promise<string> {
  const ending = new AbortController();
  const cancel = clock.after(timeoutMs, () => ending.abort());
  const calls = createOutgoingCalls({ clock, socketsMax: 1, idleSocketMs: timeoutMs, ...(proxy && { proxy }) });
  const headers = { accept: 'application/json', 'user-agent': 'gw' };
  const request = { url, method: 'GET', headers, body: '', connectTimeoutMs: timeoutMs } as const;
  try {
    // Redirects are refused, because the document is at its address or nowhere.
    const { status, body } = await calls.send({ ...request, signal: ending.signal });
    if (status !== okStatus) throw new Error(`status ${status}`);
    const text = await readText(body, bytesMax);
    if (text === undefined) throw new Error(`more than ${bytesMax} bytes`);
    return text;
  } catch (error) {
    throw ending.signal.aborted ? new Error(`no answer within ${timeoutMs} ms`, { cause: error }) : error;
  } finally {
    cancel();
    calls.close();
  }
}
