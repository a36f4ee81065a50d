// The gateway's bundle as Lambda runs it: in a process of its own, one event at a time, and frozen when its handler has
// ended.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';

/** The part of the runtime: the stream ends before the handler does, as a client sees it. */
const runtime = `
  import { PassThrough } from 'node:stream';
  // Nothing ends by its time, however slow the machine is.
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (callback, delayMs, ...more) =>
    setTimeout(callback, delayMs >= 1_000 ? 2_147_483_647 : delayMs, ...more);
  globalThis.awslambda = {
    streamifyResponse: (handler) => async (event, context) => {
      const stream = new PassThrough();
      const pieces = [];
      let isWhole = false;
      stream.on('data', (piece) => pieces.push(piece)).on('end', () => (isWhole = true));
      const closed = new Promise((resolve) => stream.once('close', resolve));
      let failure;
      await handler(event, stream, context).catch((cause) => {
        failure = cause.message;
        stream.destroy();
      });
      await closed;
      const { statusCode: status, headers } = stream.prelude;
      return { status, headers, body: Buffer.concat(pieces).toString('base64'), isWhole, failure };
    },
    HttpResponseStream: { from: (stream, prelude) => Object.assign(stream, { prelude }) },
  };
  const { handler } = await import(process.argv[1]);
  process.on('message', async (event) => {
    event.requestContext = { http: { method: 'POST', sourceIp: '127.0.0.1' }, timeEpoch: Date.now() };
    process.send(await handler(event, { getRemainingTimeInMillis: () => 60_000 }));
  });
  process.send('ready');`;

/** Parts of the event of a POST. */
export interface BundleEvent {
  readonly rawPath: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isBase64Encoded?: boolean;
}

export interface BundleAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Body in base64. */
  readonly body: string;
  /** Whether the stream ended; otherwise it was broken off. */
  readonly isWhole: boolean;
  /** Reason for which the invocation failed. */
  readonly failure?: string;
}

export interface BundledFunction {
  /** Resolves when the handler has ended, settlement included. */
  invoke(event: BundleEvent): Promise<BundleAnswer>;
  /** Returns the status of a chat completion. */
  call(key: string, body: string): Promise<number>;
  kill(): void;
}

/** Starts a function. `index` is the bundle's code file. */
export async function startBundledFunction(index: string, env: Record<string, string>): Promise<BundledFunction> {
  const file = join(dirname(index), 'index.mjs');
  const child: ChildProcess = spawn(process.execPath, ['--input-type=module', '--eval', runtime, file], {
    ...{ env, cwd: dirname(file), stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
  });
  const message = async (): Promise<unknown> => (await once(child, 'message'))[0];
  if ((await message()) !== 'ready') throw new Error('the bundle did not load');
  const invoke = async (event: BundleEvent) => {
    const answerMessage = message();
    child.send({ rawQueryString: '', ...event });
    return (await answerMessage) as BundleAnswer;
  };
  return {
    invoke,
    async call(key, body) {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      return (await invoke({ rawPath: '/v1/chat/completions', headers, body })).status;
    },
    kill: () => void child.kill(),
  };
}
