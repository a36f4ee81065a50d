// Defines the settings of every client of the SDK. The SDK determines endpoints, signatures and error shapes;
// attempts.ts decides how often a request is sent and how long it may take.
import type { Readable } from 'node:stream';
import { getEndpointFromInstructions } from '@smithy/core/endpoints';
import { createSocketPool } from '../../foundation/outgoing/index.ts';
import type { AwsAccess } from './aws-access.ts';
import { PooledRequestHandler } from './pooled-request-handler.ts';

/** Time after which an idle socket is closed, which is below the 20 seconds after which AWS begins to close it. */
const idleSocketMs = 15_000;

interface ClientBounds {
  /** Maximum sockets to one address. */
  readonly socketsMax: number;
  readonly answerMaxBytes: number;
}

export const awsClientSettings = (
  { region, credentials, connectTimeoutMs, clock }: AwsAccess,
  { socketsMax, answerMaxBytes }: ClientBounds,
) =>
  ({
    region,
    credentials,
    // The SDK never repeats a request, because a repeated conditional write may be refused as a result of its own first
    // attempt.
    maxAttempts: 1,
    // The mode is set here, so that the first call does not look for it in files.
    retryMode: 'standard',
    defaultsMode: 'standard',
    // A process that is frozen between request and answer would mistake the pause for a wrong clock.
    disableClockSkewCorrection: true,
    defaultUserAgentProvider: async (): Promise<[string][]> => [['gw']],
    streamCollector: boundedCollector(answerMaxBytes),
    requestHandler: new PooledRequestHandler(createSocketPool({ clock, socketsMax, idleSocketMs }), connectTimeoutMs),
  }) as const;

/**
 * Collects the body of an answer, and closes the connection if the body is too large. This uses events, not an
 * iterator, because every call runs it.
 */
const boundedCollector =
  (maxBytes: number) =>
  (answer: Readable): Promise<Uint8Array> => {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    const parts: Buffer[] = [];
    let bytes = 0;
    answer.on('data', (part: Buffer) => {
      parts.push(part);
      bytes += part.byteLength;
      if (bytes > maxBytes) answer.destroy(new RangeError(`an answer of over ${maxBytes} bytes`));
    });
    answer.once('end', () => resolve(Buffer.concat(parts, bytes)));
    answer.on('error', reject);
    return promise;
  };

type Endpoint = Awaited<ReturnType<typeof getEndpointFromInstructions>>;

/**
 * Middleware that finds the endpoint of each kind of command once, for a client that caches its middleware. For each
 * request the SDK reads again the ten values that determine an endpoint, although no value depends on the request
 * unless accounts have endpoints of their own.
 */
export const endpointOnce =
  (config: object, command: Parameters<typeof getEndpointFromInstructions>[1]) =>
  (next: (sending: unknown) => Promise<unknown>, context: { endpointV2?: Endpoint }) =>
  async (sending: unknown): Promise<unknown> => {
    context.endpointV2 ??= await getEndpointFromInstructions({}, command, { ...config });
    return next(sending);
  };
