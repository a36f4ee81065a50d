// Settings of every client of the SDK. Endpoints, signatures and error shapes are the SDK's; how often a request is sent
// and how long it may take is decided above, in the store's attempts.
import { createSocketPool } from '../../foundation/outgoing/index.ts';
import type { AwsAccess } from './aws-access.ts';
import { boundedCollector } from './bounded-collector.ts';
import { PooledRequestHandler } from './pooled-request-handler.ts';

/** Below the 20 seconds after which AWS begins to close idle sockets. */
const idleSocketMs = 15_000;

export interface ClientBounds {
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
    // A second try of the SDK's own would repeat conditional writes, which are then refused by their own first try.
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
