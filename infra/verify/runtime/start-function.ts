// One execution environment of Lambda behind a URL: the runtime client with a bundle as a child process, and the server
// that Lambda puts beside every function. A request to the URL becomes an event, and the function's output the answer,
// as it arrives.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { systemClock } from '../../../shared/foundation/time/index.ts';
import { spawnBoundChild } from '../../local/bound-child.ts';
import { projectRoot } from '../verify-step.ts';

const host = '127.0.0.1';
const runtimePath = '/2018-06-01/runtime/';
/** Path of requests whose body is the event itself. */
export const rawEventPath = '/raw-event';
/** Lambda's limit for a function. */
const invocationMaxMs = 65_000;
/** Type of an answer with status and headers before eight NUL bytes, and the body after them. */
const streamedType = 'application/vnd.awslambda.http-integration-response';
const preludeEnd = Buffer.alloc(8);

interface FunctionOptions {
  /** Folder of the bundle in dist. */
  readonly bundle: string;
  /** Main file of the runtime client. */
  readonly client: string;
  readonly variables: Readonly<Record<string, string>>;
}

export async function startFunction({ bundle, client, variables }: FunctionOptions) {
  const waiting: { readonly event: string; readonly answer: ServerResponse }[] = [];
  const running = new Map<string, ServerResponse>();
  let idle: ServerResponse | undefined;

  const handOut = () => {
    const next = idle === undefined ? undefined : waiting.shift();
    if (next === undefined) return;
    const id = systemRandomness.uuid();
    running.set(id, next.answer);
    idle?.writeHead(200, invocationHeaders(id)).end(next.event);
    idle = undefined;
  };
  const server = createServer(async (request, response) => {
    const path = request.url ?? '';
    if (path === `${runtimePath}invocation/next`) {
      idle = response;
      return handOut();
    }
    if (!path.startsWith(runtimePath)) {
      const body = await text(request);
      waiting.push({ event: path === rawEventPath ? body : JSON.stringify(eventOf(request, body)), answer: response });
      return handOut();
    }
    const [, id = '', kind] = /\/invocation\/([^/]+)\/(response|error)$/.exec(path) ?? [];
    const answer = running.get(id);
    running.delete(id);
    // The process died on it, or it failed: a client sees that its answer ends too early.
    if (answer !== undefined && kind === 'response') await relay(request, answer).catch(() => answer.destroy());
    else answer?.destroy();
    response.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"OK"}');
  });
  await once(server.listen(0, host), 'listening');
  const address = `${host}:${(server.address() as AddressInfo).port}`;
  // Nothing else of this terminal's environment: Lambda would not have it either.
  const env = { ...environmentOf(bundle, address), ...variables };
  const child = spawnBoundChild(process.execPath, [client, 'index.handler'], { env });
  const written: string[] = [];
  for (const pipe of [child.process.stdout, child.process.stderr]) {
    pipe?.on('data', (chunk: Buffer) => void written.push(chunk.toString('utf8')));
  }
  // Clients that wait, and later ones, see it by their connection.
  child.process.once('exit', () => server.close().closeAllConnections());
  return {
    url: `http://${address}`,
    /** Output of the process, with its log lines. */
    output: () => written.join(''),
    stop: () => child.stop(),
  };
}

const environmentOf = (bundle: string, address: string) => ({
  AWS_LAMBDA_RUNTIME_API: address,
  _HANDLER: 'index.handler',
  LAMBDA_TASK_ROOT: join(projectRoot, 'dist', bundle),
  AWS_LAMBDA_FUNCTION_NAME: `gw-test-${bundle}`,
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
  AWS_LAMBDA_LOG_GROUP_NAME: 'gw-test',
  AWS_LAMBDA_LOG_STREAM_NAME: 'gw-test',
});

const invocationHeaders = (id: string) => ({
  'content-type': 'application/json',
  'lambda-runtime-aws-request-id': id,
  'lambda-runtime-deadline-ms': String(systemClock.nowMs() + invocationMaxMs),
  'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:us-east-1:000000000000:function:gw-test',
});

/** Event as a function URL makes it. */
function eventOf({ method, url = '', headers }: IncomingMessage, body: string): object {
  const [rawPath, rawQueryString = ''] = url.split('?');
  const http = { method, path: rawPath, sourceIp: host, userAgent: 'verify' };
  const requestContext = { http, timeEpoch: systemClock.nowMs() };
  const sent = body === '' ? {} : { body };
  return { version: '2.0', rawPath, rawQueryString, headers, requestContext, ...sent, isBase64Encoded: false };
}

/** Throws where a function URL would answer 502. */
async function relay(delivery: IncomingMessage, answer: ServerResponse): Promise<void> {
  if (delivery.headers['content-type'] !== streamedType) {
    const { statusCode, headers, body } = JSON.parse(await text(delivery));
    return void answer.writeHead(statusCode, headers).end(body);
  }
  let prelude = Buffer.alloc(0);
  for await (const chunk of delivery) {
    if (answer.headersSent) answer.write(chunk);
    else {
      prelude = Buffer.concat([prelude, chunk]);
      const end = prelude.indexOf(preludeEnd);
      if (end < 0) continue;
      const { statusCode, headers } = JSON.parse(prelude.toString('utf8', 0, end));
      answer.writeHead(statusCode, headers).write(prelude.subarray(end + preludeEnd.length));
    }
  }
  const failure = delivery.trailers['lambda-runtime-function-error-type'];
  if (failure !== undefined || !answer.headersSent) throw new Error(`the function failed: ${failure}`);
  answer.end();
}
