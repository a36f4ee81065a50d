// Signs requests that no client of the SDK sends (AWS Signature Version 4).
import { createHash } from 'node:crypto';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { encodedPieces, type OutgoingBody } from '../../foundation/outgoing/index.ts';
import { type Clock, inOneTurn, nextTurn } from '../../foundation/time/index.ts';
import type { AwsCredentialProvider } from './aws-access.ts';

interface SignableRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: OutgoingBody;
  /** Method of the request; default: POST. */
  readonly method?: string | undefined;
}

/** Returns all headers, the signature included. Rejects if the process has no AWS credentials. */
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
      // The signer does not hash a body whose hash is among the headers.
      headers: { ...headers, host: url.host, 'x-amz-content-sha256': await sha256Of(body) },
    };
    const signed = await signer.sign(request, { signingDate: new Date(clock.nowMs()) });
    return signed.headers;
  };
}

async function sha256Of(body: OutgoingBody): Promise<string> {
  const hashing = createHash('sha256');
  let hashedBytes = 0;
  for (const piece of encodedPieces(body)) {
    hashing.update(piece);
    hashedBytes += piece.length;
    if (hashedBytes < inOneTurn.passedBytes) continue;
    hashedBytes = 0;
    await nextTurn();
  }
  return hashing.digest('hex');
}

const queryOf = ({ searchParams }: URL): Record<string, string[]> =>
  Object.fromEntries([...new Set(searchParams.keys())].map((name) => [name, searchParams.getAll(name)]));
