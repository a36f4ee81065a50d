// A client of the servers that a test starts: what `fetch` gives, for half of its processor time. `fetch` itself is what
// the official clients use, and their tests.
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';

interface ClientRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | FormData | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Length up to which a body is read before it is asked for. */
const smallBytes = 64 * 1024;
const agent = new Agent({ keepAlive: true });

/** Sends a request as `fetch` does. Rejects as it does if there is no answer. Redirects are not followed. */
export function sendRequest(url: string | URL, { body, ...request }: ClientRequest = {}): Promise<Response> {
  if (body instanceof FormData)
    return fetch(url, { redirect: 'manual', ...request, body, signal: request.signal ?? null });
  const { method = 'GET', headers = {}, signal } = request;
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const type = typeof body === 'string' ? { 'content-type': 'text/plain;charset=UTF-8' } : {};
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  const outgoing = httpRequest(url, {
    agent,
    method,
    headers: { accept: '*/*', 'user-agent': 'node', ...type, ...length, ...lowerCase(headers) },
    ...(signal && { signal }),
  });
  const failureOf = (cause: unknown, text: string) =>
    signal?.aborted ? signal.reason : new TypeError(text, { cause });
  outgoing.on('response', (message) => resolve(answerOf(new AnswerBody(message, failureOf))));
  outgoing.on('error', (cause) => reject(failureOf(cause, 'fetch failed')));
  outgoing.end(body);
  return promise;
}

const lowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

type Bytes = Uint8Array<ArrayBuffer>;
type FailureOf = (cause: unknown, text: string) => unknown;

/** The body of an answer: read as a whole, which clones share, or as a stream. */
class AnswerBody {
  readonly message: IncomingMessage;
  readonly #failureOf: FailureOf;
  #bytes: Promise<Bytes> | undefined;
  #isStreaming = false;

  constructor(message: IncomingMessage, failureOf: FailureOf) {
    this.message = message;
    this.#failureOf = failureOf;
    // A body that nobody reads may break.
    message.on('error', () => {});
    // A small one is read at once: the connection is free again, even if the test does not read it.
    if (Number(message.headers['content-length']) <= smallBytes) this.bytes().catch(() => {});
  }

  bytes(): Promise<Bytes> {
    this.#bytes ??= new Promise((resolve, reject) => {
      const pieces: Buffer[] = [];
      this.#listen(
        (piece) => pieces.push(piece),
        () => resolve(Buffer.concat(pieces)),
        reject,
      );
    });
    return this.#bytes;
  }

  /** Whether a part of the body has been read as a stream. */
  get isStreaming(): boolean {
    return this.#isStreaming;
  }

  /** Reads nothing until its first read, so that a test may look at the stream and then read the body as a whole. */
  stream(): ReadableStream<Bytes> {
    const { message } = this;
    const source = {
      pull: async (controller: ReadableStreamDefaultController<Bytes>) => {
        if (this.#bytes !== undefined) {
          controller.enqueue(await this.#bytes);
          return controller.close();
        }
        if (this.#isStreaming) return void message.resume();
        this.#isStreaming = true;
        this.#listen(
          (piece) => {
            controller.enqueue(new Uint8Array(piece));
            if ((controller.desiredSize ?? 0) <= 0) message.pause();
          },
          () => controller.close(),
          (reason) => controller.error(reason),
        );
      },
      cancel: () => void message.destroy(),
    };
    return new ReadableStream<Bytes>(source, { highWaterMark: 0 });
  }

  #listen(onPiece: (piece: Buffer) => void, onEnd: () => void, onFailure: (reason: unknown) => void): void {
    const { message } = this;
    const fail = (cause: unknown) => onFailure(this.#failureOf(cause, 'terminated'));
    if (message.destroyed && !message.complete) fail(message.errored);
    else message.on('data', onPiece).on('end', onEnd).on('error', fail);
  }
}

function answerOf(body: AnswerBody): Response {
  const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = body.message;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  let stream: ReadableStream<Bytes> | undefined;
  const bytes = async (): Promise<Bytes> =>
    stream !== undefined && body.isStreaming ? new Uint8Array(await new Response(stream).arrayBuffer()) : body.bytes();
  const text = async () => new TextDecoder().decode(await bytes());
  const read = {
    bytes,
    text,
    json: async () => JSON.parse(await text()) as unknown,
    arrayBuffer: async () => new Uint8Array(await bytes()).buffer,
    clone: () => answerOf(body),
  } satisfies Partial<Response>;
  return Object.defineProperties(new Response(null, { status, statusText, headers }), {
    ...Object.fromEntries(Object.entries(read).map(([name, value]) => [name, { value }])),
    body: { get: () => (stream ??= body.stream()) },
  });
}
