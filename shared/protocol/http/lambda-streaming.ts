// A function URL handler with RESPONSE_STREAM. It brings its own execution mode: middy's uses `pipeline`, which kills
// the process when a body fails, and cannot run work after the last byte. Three rules of the runtime shape it:
// only a `write` sends status and headers, only `end` lets go of the invocation, and nothing may be written after it.
import { type AdapterDependencies, deliveryMaxMs, type StopReason } from './adapter.ts';
import { deliverBody, runFinish } from './delivery.ts';
import type { Gateway, GatewayResponse } from './exchange.ts';
import {
  doNotWaitForIdleSockets,
  type LambdaResponseStream,
  type LambdaRuntime,
  lambdaRuntime,
  type StreamingHandler,
} from './lambda-runtime.ts';
import { gatewayAtBorder, type MiddyCore } from './middy-border.ts';

/** Throws where there is no Lambda runtime: build it in the handler file, nowhere else. */
export function createStreamingHandler(gateway: Gateway, dependencies: AdapterDependencies): StreamingHandler {
  const runtime = lambdaRuntime();
  const executionMode = ({ middyRequest, runRequest }: MiddyCore, ...stages: readonly unknown[]) =>
    runtime.streamifyResponse(async (event, stream, context) => {
      doNotWaitForIdleSockets(context);
      const response = await runRequest(middyRequest(event, context), ...stages);
      await sendThrough(runtime, stream, response, dependencies);
      // Inside the invocation, for a frozen process settles nothing; behind the last byte, for the client need not wait.
      await runFinish(response, dependencies);
    });
  return gatewayAtBorder(gateway, dependencies, executionMode) as never;
}

async function sendThrough(
  runtime: LambdaRuntime,
  stream: LambdaResponseStream,
  response: GatewayResponse,
  { clock, log }: AdapterDependencies,
): Promise<void> {
  const { status, headers, body } = response;
  const answer = runtime.HttpResponseStream.from(stream, { statusCode: status, headers: { ...headers } });
  const stop = new AbortController();
  const stopFor = (reason: StopReason) => () => stop.abort(reason);
  const cancelTimer = clock.after(deliveryMaxMs, stopFor('time_over'));
  answer.once('error', stopFor('client_gone'));
  try {
    // The headers of a stream leave at once, and they leave even if it never yields.
    if (typeof body !== 'string') answer.write('');
    await deliverBody(response, answer, stop.signal, { clock, log });
  } finally {
    cancelTimer();
    if (!answer.writableEnded) answer.end();
  }
}
