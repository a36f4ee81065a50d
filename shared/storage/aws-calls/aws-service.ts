// A service of AWS whose calls do no harm when they run twice: reading, wrapping, and writing the same bytes under the
// same key. So each is sent again where that can help.
import type { Randomness } from '../../foundation/ids/index.ts';
import { callWithAttempts } from './attempts.ts';
import { awsCallFailed } from './aws-call-failed.ts';
import { type AwsCall, type AwsEndpointOptions, createAwsEndpoint } from './aws-endpoint.ts';

export interface AwsService {
  /** The body of a 2xx answer. Throws AwsCallFailed for any other, and other errors where no answer came in time. */
  call(call: AwsCall, signal?: AbortSignal): Promise<Buffer>;
}

export interface AwsServiceOptions extends AwsEndpointOptions {
  /** For one call with all its tries. */
  readonly limitMs: number;
  readonly randomness: Randomness;
}

/** Calls nothing yet. */
export function createAwsService(options: AwsServiceOptions): AwsService {
  const { service, limitMs, clock, randomness } = options;
  const endpoint = createAwsEndpoint(options);
  return {
    call: (call, callerSignal) =>
      callWithAttempts({ clock, randomness, limitMs, kind: 'repeatable', callerSignal }, async (signal) => {
        const { status, body } = await endpoint.send(call, signal);
        if (status < 200 || status > 299) throw awsCallFailed(service, status, body);
        return body;
      }),
  };
}
