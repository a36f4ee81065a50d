// Settings of every client of the SDK. Endpoints, signatures and error shapes are the SDK's; how often a request is sent
// and how long it may take is decided above, in the store's attempts.
import type { Readable } from 'node:stream';
import { createSocketPool } from '../../foundation/outgoing/index.ts';
import type { AwsAccess } from './aws-access.ts';
import { PooledRequestHandler } from './pooled-request-handler.ts';

/** Below the 20 seconds after which AWS begins to close idle sockets. */
const idleSocketMs = 15_000;

interface ClientBounds {
  /** To one address. */
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
    // A second try of the SDK would repeat conditional writes, which their own first try then refuses.
    maxAttempts: 1,
    // Set here, so that the first call does not look for them in files.
    retryMode: 'standard',
    defaultsMode: 'standard',
    // A process that is frozen between request and answer would take the pause for a clock that is wrong.
    disableClockSkewCorrection: true,
    defaultUserAgentProvider: async (): Promise<[string][]> => [['gw']],
    streamCollector: boundedCollector(answerMaxBytes),
    requestHandler: new PooledRequestHandler(createSocketPool({ clock, socketsMax, idleSocketMs }), connectTimeoutMs),
  }) as const;

/** The connection of a larger answer is closed. Events, not an iterator: this is on the way of every call. */
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
