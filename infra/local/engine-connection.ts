// Calls of the DynamoDB engine over its standard input and output, where it speaks the Model Context Protocol: lines of
// JSON-RPC, answered in any order.
import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { systemClock, waitAtMost } from '../../shared/foundation/time/index.ts';

const protocolVersion = '2025-06-18';
/** For calls without a limit of their own, such as those that create tables. The store ends its calls much earlier. */
const callTimeoutMs = 10_000;
const waitingMax = 20_000;

export interface EngineAnswer {
  readonly isError: boolean;
  /** JSON. */
  readonly text: string;
}

export interface EngineConnection {
  /** Rejects when the engine ends, or refuses the call itself. */
  call(tool: string, input: Record<string, unknown>): Promise<EngineAnswer>;
}

interface Message {
  readonly id?: number;
  readonly result?: { readonly isError?: boolean; readonly content?: readonly { readonly text: string }[] };
  readonly error?: { readonly message: string };
}

/** Resolves once the engine has answered for the first time. */
export async function connectEngine(engine: ChildProcess): Promise<EngineConnection> {
  const input = engine.stdin as Socket;
  const output = engine.stdout as Socket;
  const waiting = new Map<number, PromiseWithResolvers<Message>>();
  let lastId = 0;
  let hasEnded = false;

  /** What is sent in one turn goes in one write: each wakes the engine. */
  const send = (message: object) => {
    if (input.writableCorked === 0) {
      input.cork();
      process.nextTick(() => input.uncork());
    }
    input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };

  async function request(method: string, params: object): Promise<Message> {
    if (hasEnded) throw new Error('the embedded DynamoDB has ended');
    if (waiting.size === waitingMax) throw new Error(`${waitingMax} calls wait for the embedded DynamoDB`);
    lastId += 1;
    const id = lastId;
    const answer = Promise.withResolvers<Message>();
    waiting.set(id, answer);
    // An idle engine does not keep this process running; a call does.
    output.ref();
    send({ id, method, params });
    const giveUp = () => {
      throw new Error(`no answer of the embedded DynamoDB within ${callTimeoutMs} ms`);
    };
    return waitAtMost(systemClock, callTimeoutMs, answer.promise, giveUp).finally(() => {
      waiting.delete(id);
      if (waiting.size === 0) output.unref();
    });
  }

  onLines(output, (line) => {
    const message = JSON.parse(line) as Message;
    if (message.id !== undefined) waiting.get(message.id)?.resolve(message);
  });
  // Writing to an engine that has ended; its end is told below.
  input.on('error', () => {});
  engine.once('close', () => {
    hasEnded = true;
    for (const { reject } of waiting.values()) reject(new Error('the embedded DynamoDB has ended'));
  });

  await request('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'gw', version: '1' } });
  send({ method: 'notifications/initialized' });
  return {
    async call(tool, toolInput) {
      const { result, error } = await request('tools/call', { name: tool, arguments: toolInput });
      const text = result?.content?.[0]?.text;
      if (text === undefined)
        throw new Error(`the embedded DynamoDB refused ${tool} (${error?.message ?? 'no answer'})`);
      return { isError: result?.isError === true, text };
    },
  };
}

/** A page of a scan comes in many parts, so only the part that has just come is searched for the end of its line. */
function onLines(output: Socket, receive: (line: string) => void): void {
  const parts: string[] = [];
  output.setEncoding('utf8');
  output.on('data', (part: string) => {
    let start = 0;
    for (let end = part.indexOf('\n'); end !== -1; end = part.indexOf('\n', start)) {
      parts.push(part.slice(start, end));
      receive(parts.splice(0).join(''));
      start = end + 1;
    }
    parts.push(part.slice(start));
  });
}
