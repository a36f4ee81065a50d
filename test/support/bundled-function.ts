// The gateway's bundle as Lambda runs it: in a process of its own, one event at a time, and frozen when its handler has ended.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';

/** The runtime's part: the stream ends before the handler does, as a client sees it. */
const runtime = `
  import { PassThrough } from 'node:stream';
  // Nothing ends by its time, however slow the machine is.
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (callback, delayMs, ...more) =>
    setTimeout(callback, delayMs >= 1_000 ? 2_147_483_647 : delayMs, ...more);
  globalThis.awslambda = {
    streamifyResponse: (handler) => async (event, context) => {
      const stream = new PassThrough();
      const body = new Response(stream).text();
      await handler(event, stream, context);
      await body;
      return stream.prelude.statusCode;
    },
    HttpResponseStream: { from: (stream, prelude) => Object.assign(stream, { prelude }) },
  };
  const { handler } = await import(process.argv[1]);
  process.on('message', async ({ key, body }) => {
    const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' };
    const http = { method: 'POST', sourceIp: '127.0.0.1' };
    const event = { rawPath: '/v1/chat/completions', rawQueryString: '', headers, body, requestContext: { http, timeEpoch: Date.now() } };
    process.send(await handler(event, { getRemainingTimeInMillis: () => 60_000 }));
  });
  process.send('ready');`;

export interface BundledFunction {
  /** Resolves with the status of the answer when the handler has ended, settlement included. */
  call(key: string, body: string): Promise<number>;
  kill(): void;
}

/** `index`: the bundle's code file. */
export async function startBundledFunction(index: string, env: Record<string, string>): Promise<BundledFunction> {
  const file = join(dirname(index), 'index.mjs');
  const child: ChildProcess = spawn(process.execPath, ['--input-type=module', '--eval', runtime, file], {
    ...{ env, cwd: dirname(file), stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
  });
  const message = async (): Promise<unknown> => (await once(child, 'message'))[0];
  if ((await message()) !== 'ready') throw new Error('the bundle did not load');
  return {
    async call(key, body) {
      const answered = message();
      child.send({ key, body });
      return (await answered) as number;
    },
    kill: () => void child.kill(),
  };
}
