// Makes the calls of the smoke test, and measures the arrival times of their answers.
import { type Clock, systemClock } from '../../../shared/foundation/time/index.ts';

/**
 * Time limit of an answer, longer than that of a call, and than the longest stream of a stage with default settings.
 */
const answerTimeoutMs = 70_000;

export interface SmokeAccess {
  /** Base URL; ends in /v1. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly send?: typeof fetch;
  readonly clock?: Clock;
}

export interface SmokeAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Arrival times in milliseconds since the request was sent. */
export interface Arrival {
  readonly firstMs: number;
  readonly lastMs: number;
  /** Number of parts in which the answer arrived. */
  readonly parts: number;
}

/** Fails with this finding. */
export function expectThat(isTrue: boolean, found: string): asserts isTrue {
  if (!isTrue) throw new Error(found);
}

export function createClient({ baseUrl, apiKey, send = fetch, clock = systemClock }: SmokeAccess) {
  let requests = 0;
  const start = (path: string, body?: object, headers: Record<string, string> = {}): Promise<Response> => {
    requests += 1;
    return send(`${baseUrl}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(answerTimeoutMs),
    });
  };
  const request = async (...call: Parameters<typeof start>): Promise<SmokeAnswer> => {
    const response = await start(...call);
    return { status: response.status, headers: response.headers, body: await response.text() };
  };
  const expectSuccess = ({ status, body }: Pick<SmokeAnswer, 'status' | 'body'>) =>
    expectThat(status === 200, `status ${status}: ${body.slice(0, 300)}`);
  return {
    /** Number of requests that the gateway received, whatever its answers. */
    requestCount: () => requests,
    /** Sends a request, whatever the status of its answer. */
    request,
    async call(...call: Parameters<typeof start>): Promise<SmokeAnswer> {
      const answer = await request(...call);
      expectSuccess(answer);
      return answer;
    },
    async stream(...call: Parameters<typeof start>): Promise<{ readonly body: string; readonly arrival: Arrival }> {
      const startedAtMs = clock.nowMs();
      const response = await start(...call);
      if (!response.ok) expectSuccess({ status: response.status, body: await response.text() });
      const decoder = new TextDecoder();
      const times: number[] = [];
      let body = '';
      for await (const part of response.body ?? []) {
        body += decoder.decode(part, { stream: true });
        // Comments that prevent an idle connection from being closed are not output.
        if (/^data: /m.test(body)) times.push(clock.nowMs() - startedAtMs);
      }
      const [firstMs = 0, lastMs = 0] = [times[0], times.at(-1)];
      return { body, arrival: { firstMs, lastMs, parts: times.length } };
    },
  };
}

/**
 * Minimum time between the parts of a stream. A buffered body arrives within some milliseconds, however long its
 * production took.
 */
const apartMinMs = 100;
const apartMinShare = 0.1;

/** Describes when a stream arrived. Fails if its first output did not arrive clearly before its last. */
export function describeArrival({ firstMs, lastMs, parts }: Arrival): string {
  const times = `first output after ${firstMs} ms, the last after ${lastMs} ms, in ${parts} parts`;
  const isApart = lastMs - firstMs >= Math.max(apartMinMs, apartMinShare * lastMs);
  expectThat(
    isApart && parts > 2,
    `it does not arrive as it comes (${times}): something on the way holds it back, or the provider sends it at once (try another --model)`,
  );
  return times;
}
