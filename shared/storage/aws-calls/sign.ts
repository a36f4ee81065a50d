// Signature Version 4. The signer is AWS's own: a mistake in one rule of it shows on some requests only.
import { SignatureV4 } from '@smithy/signature-v4';
import type { AwsCredentials } from '../../foundation/environment/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { createSha256 } from './sha256.ts';

/** Asked for each signature: credentials of a role are replaced before they end. Rejects where there are none. */
export type Identity = () => Promise<AwsCredentials>;

export interface SignerOptions {
  /** As signatures name it, such as `dynamodb`. */
  readonly service: string;
  readonly region: string;
  readonly identity: Identity;
  readonly clock: Clock;
}

export interface SignableRequest {
  readonly method: string;
  /** Without a query. */
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** All headers to send: the given ones, `host`, and those of the signature. */
export type Sign = (request: SignableRequest) => Promise<Record<string, string>>;

export function createSigner({ service, region, identity, clock }: SignerOptions): Sign {
  const signer = new SignatureV4({
    service,
    region,
    credentials: identity,
    sha256: createSha256(),
    // S3 alone signs paths as they are.
    uriEscapePath: service !== 's3',
  });
  return async ({ method, url, headers, body }) => {
    const request = {
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: {},
      headers: { ...headers, host: url.host },
      body,
    };
    const { headers: all } = await signer.sign(request, { signingDate: new Date(clock.nowMs()) });
    return { ...all };
  };
}
