// Signs requests that no client of the SDK sends (AWS Signature Version 4).
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Clock } from '../../foundation/time/index.ts';
import type { AwsCredentialProvider } from './aws-access.ts';

interface SignableRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** Default: POST. */
  readonly method?: string | undefined;
}

/** Gives all headers, the signature among them. Rejects where the process has no credentials of AWS. */
type SignRequest = (request: SignableRequest) => Promise<Record<string, string>>;

interface RequestSignerOptions {
  readonly service: string;
  readonly region: string;
  readonly credentials: AwsCredentialProvider;
  readonly clock: Clock;
}

export function requestSigner({ service, region, credentials, clock }: RequestSignerOptions): SignRequest {
  const signer = new SignatureV4({ service, region, credentials, sha256: Sha256 });
  return async ({ url, headers, body, method = 'POST' }) => {
    const request = {
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: queryOf(url),
      headers: { ...headers, host: url.host },
      body,
    };
    const signed = await signer.sign(request, { signingDate: new Date(clock.nowMs()) });
    return signed.headers;
  };
}

const queryOf = ({ searchParams }: URL): Record<string, string[]> =>
  Object.fromEntries([...new Set(searchParams.keys())].map((name) => [name, searchParams.getAll(name)]));
