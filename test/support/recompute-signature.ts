// Signature Version 4 by AWS's own description of the algorithm, with node:crypto alone: what the services check.
import { createHash, createHmac } from 'node:crypto';

export interface SignedRequest {
  readonly method: string;
  /** Path and query as they stand in the request line. */
  readonly target: string;
  /** Names in lower case, `authorization` included. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
}

interface Authorization {
  readonly accessKeyId: string;
  /** Day, region, service and the closing word. */
  readonly scope: readonly [string, string, string, string];
  readonly signedHeaders: readonly string[];
  readonly signature: string;
}

const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const hmac = (key: string | Uint8Array, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** Undefined: this is no such header. */
export function readAuthorization(header: string | undefined): Authorization | undefined {
  const shape =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/(aws4_request), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/;
  const [, accessKeyId = '', day = '', region = '', service = '', closing = '', names = '', signature = ''] =
    shape.exec(header ?? '') ?? [];
  if (signature === '') return undefined;
  return { accessKeyId, scope: [day, region, service, closing], signedHeaders: names.split(';'), signature };
}

/** The signature that the request must carry, in hex. Paths need no escape here, and queries are sorted. */
export function recomputeSignature(request: SignedRequest, secretAccessKey: string): string {
  const authorization = readAuthorization(request.headers.authorization);
  if (authorization === undefined) throw new Error('the request is not signed');
  const { scope, signedHeaders } = authorization;
  const [path = '', query = ''] = request.target.split('?');
  const canonicalHeaders = signedHeaders.map((name) => `${name}:${(request.headers[name] ?? '').trim()}\n`).join('');
  const canonicalRequest = [
    request.method,
    path,
    query,
    canonicalHeaders,
    signedHeaders.join(';'),
    sha256(request.body),
  ].join('\n');
  const date = request.headers['x-amz-date'] ?? '';
  const stringToSign = ['AWS4-HMAC-SHA256', date, scope.join('/'), sha256(canonicalRequest)].join('\n');
  const signingKey = scope.reduce<string | Uint8Array>((key, part) => hmac(key, part), `AWS4${secretAccessKey}`);
  return hmac(signingKey, stringToSign).toString('hex');
}
