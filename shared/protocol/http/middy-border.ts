// middy stands at the border of both Lambda functions and has two roles there: `before` turns the event into a request
// of ours, `onError` turns whatever escapes into the envelope. Nothing else may hang on it: `after` runs before a
// streamed body is produced, and `onError` never hears of a failure inside one.
import middy from '@middy/core';
import type { AdapterDependencies } from './adapter.ts';
import type { Gateway, GatewayRequest, GatewayResponse } from './exchange.ts';
import { internalErrorAnswer } from './internal-error.ts';
import { toGatewayRequest } from './lambda-event.ts';

type Plugin = NonNullable<Parameters<typeof middy>[1]>;

/** middy's own early timeout would answer over our head and does not cover the body: the budget has its deadlines. */
const noEarlyTimeout = 0;

/** A middy handler; without `executionMode` one that returns the GatewayResponse itself. */
export function gatewayAtBorder(
  gateway: Gateway,
  dependencies: AdapterDependencies,
  executionMode?: unknown,
): (event: unknown, context: never) => Promise<unknown> {
  // Lambda never tells that a client left, so the signal is one that does not abort. One a request: it gathers listeners.
  const handle = (request: GatewayRequest): Promise<GatewayResponse> =>
    gateway(request, { clientGone: new AbortController().signal });
  const plugin = { timeoutEarlyInMillis: noEarlyTimeout, ...(executionMode ? { executionMode } : {}) } as Plugin;
  return middy(handle as never, plugin)
    .before((invocation) => {
      invocation.event = toGatewayRequest(invocation.event, dependencies.clock);
    })
    .onError((invocation) => {
      invocation.response = internalErrorAnswer(invocation.error, dependencies);
    }) as never;
}

/** What middy hands to an execution mode, as far as ours use it. The published type says `() => void`. */
export interface MiddyCore {
  middyRequest(event: unknown, context: unknown): object;
  runRequest(invocation: object, ...stages: readonly unknown[]): Promise<GatewayResponse>;
}
