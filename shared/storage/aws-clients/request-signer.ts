// Signs requests that no client of the SDK sends (AWS Signature Version 4).

import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Clock } from '../../foundation/time/index.ts';
import type { AwsCredentialProvider } from './aws-access.ts';

export interface SignableRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** Default: POST. */
  readonly method?: string | undefined;
}

/** Gives all headers, the signature among them. Rejects where the process has no credentials of AWS. */
export type SignRequest = (request: SignableRequest) => Promise<Record<string, string>>;

export interface RequestSignerOptions {
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

// SHA-256 for the signer. OpenSSL derives a key from the bytes of a secret each time, which is seven times the work of
// the hash itself, and each signature needs the same two secrets. So their keys are kept.

/** Text or bytes; a signer never passes a bare ArrayBuffer. */
type Source = string | ArrayBuffer | ArrayBufferView;

interface Hashing {
  update(source: Source): void;
  digest(): Promise<Uint8Array>;
}

/** One of its own per signer: it remembers the last secret that came as text, the access key's. */
export function createSha256(): new (secret?: Source) => Hashing {
  const keysOfBytes = new WeakMap<object, KeyObject>();
  let ofText: { readonly text: string; readonly key: KeyObject } | undefined;

  function keyOf(secret: Source): KeyObject {
    if (typeof secret === 'string') {
      if (ofText?.text !== secret) ofText = { text: secret, key: createSecretKey(secret, 'utf8') };
      return ofText.key;
    }
    const key = keysOfBytes.get(secret) ?? createSecretKey(bytesOf(secret));
    keysOfBytes.set(secret, key);
    return key;
  }

  return class Sha256 {
    readonly #hash;
    constructor(secret?: Source) {
      this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', keyOf(secret));
    }
    update(source: Source): void {
      this.#hash.update(typeof source === 'string' ? source : bytesOf(source));
    }
    async digest(): Promise<Uint8Array> {
      return this.#hash.digest();
    }
  };
}

const bytesOf = (source: ArrayBuffer | ArrayBufferView): Uint8Array =>
  ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
