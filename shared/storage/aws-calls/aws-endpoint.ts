// One service of AWS in one region: calls to it are signed and bounded in size, and each is sent once.
import { createOutgoingCalls } from '../../foundation/outgoing/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { exchangeHttp, type HttpAnswer, type HttpExchange } from './http-exchange.ts';
import { createSigner, type Identity } from './sign.ts';

/** A Lambda environment uses a few; a local run or a Web Function needs one per running request. */
const defaultSocketsMax = 64;
/** Below the 20 seconds after which AWS's own ends begin to close idle sockets. */
const idleSocketMs = 15_000;

export interface AwsCall {
  readonly method: HttpExchange['method'];
  /** Begins with a slash and holds nothing that an escape would change. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface AwsEndpoint {
  /** Any answer, of any status. Rejects with ConnectionBroken, or with an Error for one that is too large. */
  send(call: AwsCall, signal: AbortSignal): Promise<HttpAnswer>;
  close(): void;
}

export interface AwsEndpointOptions {
  /** As signatures name it. */
  readonly service: 'dynamodb' | 'kms' | 's3' | 'secretsmanager';
  readonly origin: URL;
  readonly region: string;
  readonly identity: Identity;
  readonly answerMaxBytes: number;
  readonly socketsMax?: number | undefined;
  readonly clock: Clock;
}

/** Calls nothing yet. */
export function createAwsEndpoint(options: AwsEndpointOptions): AwsEndpoint {
  const { service, origin, region, identity, answerMaxBytes, socketsMax = defaultSocketsMax, clock } = options;
  const calls = createOutgoingCalls({ clock, socketsMax, idleSocketMs });
  const sign = createSigner({ service, region, identity, clock });
  return {
    async send({ method, path, headers = {}, body = noBytes }, signal) {
      const url = new URL(path, origin);
      const signed = await sign({ method, url, headers, body });
      return exchangeHttp(calls, { url, method, headers: signed, body, answerMaxBytes, signal });
    },
    close: () => calls.close(),
  };
}

const noBytes = new Uint8Array();

/** Partitions with a domain of their own, by the beginning of their regions. */
const domains = [
  ['cn-', 'amazonaws.com.cn'],
  ['eusc-', 'amazonaws.eu'],
  ['us-iso-', 'c2s.ic.gov'],
  ['us-isob-', 'sc2s.sgov.gov'],
  ['us-isof-', 'csp.hci.ic.gov'],
  ['eu-isoe-', 'cloud.adc-e.uk'],
] as const;

/** Where AWS itself answers. */
export function awsOrigin(host: string, region: string): URL {
  const [, domain] = domains.find(([beginning]) => region.startsWith(beginning)) ?? [];
  return new URL(`https://${host}.${region}.${domain ?? 'amazonaws.com'}`);
}
