// One service of AWS in one region: calls to it are signed (Signature Version 4), bounded in time and size, and sent
// again where that can help. In place of an SDK client per service, each of which would add a third to a bundle; the
// signer is the one that the DynamoDB client brings along.
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import type { AwsCredentials } from '../config/index.ts';
import type { Randomness } from '../ids/index.ts';
import type { Clock } from '../time/index.ts';
import { awsCallFailed } from './aws-call-failed.ts';
import { createHttpExchange, type HttpAnswer, type HttpExchange } from './http-exchange.ts';
import { repeat } from './repeat.ts';

export interface AwsCall {
  readonly method: HttpExchange['method'];
  /** Begins with a slash and holds nothing that an escape would change. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface AwsService {
  /** The body of a 2xx answer. Throws AwsCallFailed for any other, and other errors where no answer came in time. */
  call(call: AwsCall, signal?: AbortSignal): Promise<Buffer>;
}

export interface AwsServiceOptions {
  /** As signatures name it. */
  readonly service: 'kms' | 's3' | 'secretsmanager';
  readonly origin: URL;
  readonly region: string;
  /** Asked for each signature: credentials of a role are replaced before they end. */
  readonly identity: () => Promise<AwsCredentials>;
  /** For one call with all its tries. */
  readonly limitMs: number;
  readonly answerMaxBytes: number;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

export function createAwsService(options: AwsServiceOptions): AwsService {
  const { service, origin, region, identity, limitMs, answerMaxBytes, clock, randomness } = options;
  const exchange = createHttpExchange(clock);
  const signer = new SignatureV4({
    service,
    region,
    credentials: signingIdentity(identity),
    sha256: Sha256,
    // S3 alone signs paths as they are.
    uriEscapePath: service !== 's3',
  });

  async function sendOnce({ method, path, headers = {}, body = noBytes }: AwsCall, signal: AbortSignal) {
    const request = {
      method,
      protocol: origin.protocol,
      hostname: origin.hostname,
      path,
      query: {},
      headers: { ...headers, host: origin.host },
      body,
    };
    const { headers: signed } = await signer.sign(request, { signingDate: new Date(clock.nowMs()) });
    return exchange({ url: new URL(path, origin), method, headers: signed, body, answerMaxBytes, signal });
  }

  return {
    call: (call, callerSignal) =>
      repeat({ clock, randomness, limitMs, callerSignal }, async (signal) => {
        const { status, body }: HttpAnswer = await sendOnce(call, signal);
        if (status < 200 || status > 299) throw awsCallFailed(service, status, body);
        return body;
      }),
  };
}

const noBytes = new Uint8Array();

/** The signer distinguishes an absent session token from one that is undefined. */
export const signingIdentity = (identity: AwsServiceOptions['identity']) => async () => {
  const { accessKeyId, secretAccessKey, sessionToken } = await identity();
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
};
