// A small public document of another server. Not for providers: nothing of a request is sent along, and nothing is tried again.
import type { Clock } from '../time/index.ts';

export interface DocumentRequest {
  readonly url: URL;
  /** For the whole exchange. */
  readonly timeoutMs: number;
  /** What is longer is refused as soon as that is seen. */
  readonly bytesMax: number;
  readonly clock: Clock;
}

/** The text of a 200. Throws an Error that says what went wrong, without a word of the other server. */
export async function fetchText({ url, timeoutMs, bytesMax, clock }: DocumentRequest): Promise<string> {
  const aborter = new AbortController();
  const cancel = clock.after(timeoutMs, () => aborter.abort(new Error(`no answer within ${timeoutMs} ms`)));
  try {
    // A redirect is refused: the document is at its address or nowhere.
    const response = await fetch(url, { redirect: 'error', signal: aborter.signal });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return await readAtMost(response, bytesMax);
  } finally {
    cancel();
    aborter.abort();
  }
}

async function readAtMost(response: Response, bytesMax: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.byteLength;
    if (bytes > bytesMax) throw new Error(`more than ${bytesMax} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
