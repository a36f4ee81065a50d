// A function URL handler with BUFFERED: the answer is returned whole, so `finish` is awaited before it.
import { type AdapterDependencies, deliveryMaxMs, type StopReason } from './adapter.ts';
import { deliverBody, runFinish, type TextSink } from './delivery.ts';
import type { Gateway, GatewayResponse } from './exchange.ts';
import { doNotWaitForIdleSockets, type LambdaContext } from './lambda-runtime.ts';
import { gatewayAtBorder } from './middy-border.ts';

export interface BufferedAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Two parameters: Node 24 refuses a handler with three as one that wants a callback. */
export type BufferedHandler = (event: unknown, context: LambdaContext) => Promise<BufferedAnswer>;

export function createBufferedHandler(gateway: Gateway, dependencies: AdapterDependencies): BufferedHandler {
  const run = gatewayAtBorder(gateway, dependencies) as (
    event: unknown,
    context: LambdaContext,
  ) => Promise<GatewayResponse>;
  return async (event, context) => {
    doNotWaitForIdleSockets(context);
    const response = await run(event, context);
    const body = await collectBody(response, dependencies);
    await runFinish(response, dependencies);
    return { statusCode: response.status, headers: { ...response.headers }, body };
  };
}

async function collectBody(response: GatewayResponse, { clock, log }: AdapterDependencies): Promise<string> {
  if (typeof response.body === 'string') return response.body;
  const pieces: string[] = [];
  const sink: TextSink = { write: (text) => pieces.push(text) > 0, once: () => sink, off: () => sink };
  const stop = new AbortController();
  const timeOver: StopReason = 'time_over';
  const cancelTimer = clock.after(deliveryMaxMs, () => stop.abort(timeOver));
  await deliverBody(response, sink, stop.signal, { clock, log });
  cancelTimer();
  return pieces.join('');
}
