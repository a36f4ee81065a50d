// A server in place of AWS's own: it checks every signature as they do, and imitates the operations the gateway calls.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { readAuthorization, recomputeSignature } from './recompute-signature.ts';

export const identity = {
  accessKeyId: 'AKIAFAKEFAKEFAKEFAKE',
  secretAccessKey: 'fakeSecretAccessKey+0123456789/abcdefghij',
  sessionToken: 'fakeSessionToken0123456789',
} as const;

export interface Received {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

export interface Answer {
  readonly status: number;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** 'hang' answers nothing; 'reset' closes the socket instead. */
export type Answering = (received: Received, socket: Socket) => Answer | 'hang' | 'reset';

export interface FakeAws {
  readonly url: URL;
  readonly received: readonly Received[];
  /** Resolves when the next request is there. */
  nextRequest(): Promise<void>;
  stop(): void;
}

export async function startFakeAws(answering: Answering): Promise<FakeAws> {
  const received: Received[] = [];
  let heard = Promise.withResolvers<void>();
  const server = createServer(async (incoming, outgoing) => {
    const request = await readRequest(incoming);
    received.push(request);
    heard.resolve();
    heard = Promise.withResolvers();
    const answer = signatureFault(request) ?? answering(request, incoming.socket);
    if (answer === 'reset') incoming.socket.destroy();
    else if (answer !== 'hang') send(outgoing, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    received,
    nextRequest: () => heard.promise,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function readRequest(incoming: IncomingMessage): Promise<Received> {
  const parts: Buffer[] = [];
  for await (const part of incoming as AsyncIterable<Buffer>) parts.push(part);
  const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
  return { method: String(incoming.method), target: String(incoming.url), headers, body: Buffer.concat(parts) };
}

function send(outgoing: ServerResponse, { status, body, headers = {} }: Answer): void {
  outgoing.writeHead(status, headers).end(body);
}

/** What AWS refuses before it looks at the operation. */
function signatureFault(request: Received): Answer | undefined {
  const authorization = readAuthorization(request.headers.authorization);
  const mustBeSigned = ['host', 'x-amz-date', 'x-amz-security-token'];
  const isSound =
    authorization !== undefined &&
    authorization.accessKeyId === identity.accessKeyId &&
    mustBeSigned.every((name) => authorization.signedHeaders.includes(name)) &&
    request.headers['x-amz-security-token'] === identity.sessionToken &&
    (request.headers['x-amz-date'] ?? '').startsWith(authorization.scope[0]) &&
    [undefined, sha256(request.body)].includes(request.headers['x-amz-content-sha256']) &&
    authorization.signature === recomputeSignature(request, identity.secretAccessKey);
  return isSound ? undefined : jsonFault(403, 'InvalidSignatureException');
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const json = (value: unknown): Answer => ({ status: 200, body: JSON.stringify(value) });

export const jsonFault = (status: number, code: string): Answer => ({
  status,
  body: JSON.stringify({ __type: `com.amazonaws.fake#${code}`, message: 'text that quotes hunter2-secret' }),
});

/** GenerateDataKey and Decrypt of one key, with the encryption context as additional authenticated data. */
export function fakeKms(keyId: string): Answering {
  const master = randomBytes(32);
  const authenticated = (context: Record<string, string>) =>
    Buffer.from(JSON.stringify(Object.entries(context).sort()));
  return ({ headers, body }) => {
    const input = JSON.parse(body.toString('utf8'));
    if (input.KeyId !== keyId) return jsonFault(400, 'IncorrectKeyException');
    if (headers['x-amz-target'] === 'TrentService.GenerateDataKey') {
      const [clear, iv] = [randomBytes(32), randomBytes(12)];
      const cipher = createCipheriv('aes-256-gcm', master, iv).setAAD(authenticated(input.EncryptionContext));
      const sealed = Buffer.concat([iv, cipher.update(clear), cipher.final(), cipher.getAuthTag()]);
      return json({ KeyId: keyId, Plaintext: clear.toString('base64'), CiphertextBlob: sealed.toString('base64') });
    }
    if (headers['x-amz-target'] !== 'TrentService.Decrypt') return jsonFault(400, 'UnknownOperationException');
    try {
      const sealed = Buffer.from(input.CiphertextBlob, 'base64');
      const decipher = createDecipheriv('aes-256-gcm', master, sealed.subarray(0, 12), { authTagLength: 16 });
      decipher.setAAD(authenticated(input.EncryptionContext)).setAuthTag(sealed.subarray(-16));
      const clear = Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]);
      return json({ KeyId: keyId, Plaintext: clear.toString('base64'), EncryptionAlgorithm: 'SYMMETRIC_DEFAULT' });
    } catch {
      return jsonFault(400, 'InvalidCiphertextException');
    }
  };
}

const xmlFault = (status: number, code: string): Answer => ({
  status,
  body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>hunter2-secret</Message></Error>`,
});

/** PutObject and GetObject of one bucket, addressed by path. */
export function fakeS3(bucket: string): Answering {
  const objects = new Map<string, Buffer>();
  return ({ method, target, headers, body }) => {
    // Unlike the other services S3 wants the hash of the body as a header.
    if (headers['x-amz-content-sha256'] === undefined) return xmlFault(400, 'MissingSecurityHeader');
    if (!target.startsWith(`/${bucket}/`)) return xmlFault(404, 'NoSuchBucket');
    if (method === 'PUT') {
      objects.set(target, body);
      return { status: 200, body: '' };
    }
    const object = objects.get(target);
    return object === undefined ? xmlFault(404, 'NoSuchKey') : { status: 200, body: object };
  };
}

/** GetSecretValue. `secrets` may change between calls. */
export const fakeSecretsManager =
  (secrets: Readonly<Record<string, string>>): Answering =>
  ({ headers, body }) => {
    if (headers['x-amz-target'] !== 'secretsmanager.GetSecretValue') {
      return jsonFault(400, 'UnknownOperationException');
    }
    const SecretString = secrets[JSON.parse(body.toString('utf8')).SecretId];
    return SecretString === undefined ? jsonFault(400, 'ResourceNotFoundException') : json({ SecretString });
  };
