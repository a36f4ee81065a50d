// A clock that a test moves, ids that are predictable, and a log that a test reads.

import { callTimes } from '../../../shared/foundation/constants/index.ts';
import { createLog } from '../../../shared/foundation/log/index.ts';
import type { AdapterDependencies, BodyPart, Gateway, GatewayResponse } from '../../../shared/protocol/http/index.ts';
import { manualClock, startMs } from '../../support/manual-clock.ts';

export const correlationId = '00000000-0000-4000-8000-000000000001';

export function adapterDependencies(streamBudgetSeconds?: number) {
  const clock = manualClock();
  const lines: string[] = [];
  const dependencies: AdapterDependencies = {
    clock,
    times: callTimes(streamBudgetSeconds),
    randomness: { uuid: () => correlationId, bytes: (length) => Buffer.alloc(length), fraction: () => 0 },
    log: createLog({ clock, write: (line) => lines.push(line) }),
  };
  const events = () => lines.map((line) => JSON.parse(line).event as string);
  return { dependencies, clock, lines, events };
}

/** The HTTP/2 options of a server whose clients do not use HTTP/2. */
export const withoutHttp2 = (clock = manualClock()) => ({
  clock,
  times: { headMs: 0, requestMs: 0, idleMs: 0 },
  serve: () => {},
  boundReached: () => {},
});

export const answering =
  ({
    body = '',
    ...response
  }: Partial<Omit<GatewayResponse, 'body'>> & { body?: string | AsyncIterable<string | BodyPart> }): Gateway =>
  async () => ({ status: 200, headers: {}, ...response, body: typeof body === 'string' ? body : partsOf(body) });

/** Returns the parts of a body; the last part is the end marker. */
export const partsOf = (texts: AsyncIterable<string | BodyPart>): AsyncIterable<BodyPart> => ({
  [Symbol.asyncIterator]() {
    const iterator = texts[Symbol.asyncIterator]();
    return {
      async next() {
        const { done = false, value } = await iterator.next();
        if (done || typeof value !== 'string') return { done, value };
        return { value: { text: value, isEnd: value === endMarker } };
      },
      async return() {
        await iterator.return?.();
        return { done: true, value: undefined };
      },
    };
  },
});

export const eventStreamHeaders = { 'content-type': 'text/event-stream; charset=utf-8' };

const endMarker = 'data: [DONE]\n\n';
const brokenEnd = (code: string) => `data: ${JSON.stringify({ error: { code } })}\n\n${endMarker}`;

/** Headers and end of an event stream, as of a chat completion. */
export const eventStream: Pick<GatewayResponse, 'headers' | 'errorEndText'> = {
  headers: eventStreamHeaders,
  errorEndText: (why) => brokenEnd(why === 'failed' ? 'no_available_provider' : 'request_deadline_exceeded'),
};

/** Returns a promise and the function that fulfils it. */
export function gate<T = void>() {
  let open: (value: T) => void = () => {};
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

export const chatEvent = (overrides: object = {}) => ({
  version: '2.0',
  rawPath: '/v1/chat/completions',
  rawQueryString: '',
  headers: { 'Content-Type': 'application/json', authorization: 'Bearer sk-gw-1' },
  requestContext: { http: { method: 'POST', path: '/v1/chat/completions' }, timeEpoch: startMs },
  body: '{"model":"auto"}',
  isBase64Encoded: false,
  ...overrides,
});
