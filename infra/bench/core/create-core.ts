// The gateway without a server around it: a request goes in, an answer comes out, and every moment in between is known.
import { createChatGateway } from '../../../functions/chat-completions/routes.ts';
import { createRuntime, type Runtime } from '../../../shared/composition/index.ts';
import { applyGatewayFile, readGatewayFile } from '../../../shared/configuration/gateway-file/index.ts';
import { type Clock, systemClock } from '../../../shared/foundation/time/index.ts';
import type { Gateway } from '../../../shared/protocol/http/index.ts';
import type { Store } from '../../../shared/storage/store/index.ts';
import { localAdapters } from '../../local/local-adapters.ts';
import { type BenchKeys, gatewayFileText } from '../gateway-file.ts';
import { instantUpstream, type UpstreamMarks } from './instant-upstream.ts';

export const coreStage = 'bench';

export interface CoreRequest {
  readonly key: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Moments of one call, by performance.now(). */
export interface Timeline {
  readonly startedAtMs: number;
  /** Undefined where the provider was not called. */
  readonly calledAtMs: number | undefined;
  readonly upstreamEndedAtMs: number | undefined;
  /** The client has its last byte. */
  readonly clientEndAtMs: number;
}

export interface Core {
  readonly runtime: Runtime;
  /** Throws where the answer is not 200. */
  call(request: CoreRequest): Promise<Timeline>;
}

export function createCore(store: Store, clock: Clock = systemClock): Core {
  const marks: UpstreamMarks = { calledAtMs: undefined, endedAtMs: undefined };
  const environment = { stage: coreStage, originSecretHashes: [], logLevel: 'silent' } as const;
  const adapters = localAdapters({ data: undefined, dynamodb: undefined });
  const made = createRuntime({ environment, clock, store, ...adapters });
  made.transport.close();
  const runtime: Runtime = { ...made, transport: instantUpstream(marks) };
  const gateway = createChatGateway(runtime);
  return { runtime, call: (request) => callGateway(gateway, marks, clock, request) };
}

async function callGateway(
  gateway: Gateway,
  marks: UpstreamMarks,
  clock: Clock,
  { key, body, headers = {} }: CoreRequest,
): Promise<Timeline> {
  marks.calledAtMs = undefined;
  marks.endedAtMs = undefined;
  const startedAtMs = performance.now();
  const sent = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers };
  const request = {
    method: 'POST',
    path: '/v1/chat/completions',
    headers: Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, [value]])),
    readBody: async () => Buffer.from(body),
    arrivedAtMs: clock.nowMs(),
  } as const;
  const answer = await gateway(request, { clientGone: new AbortController().signal });
  let text = '';
  if (typeof answer.body === 'string') text = answer.body;
  else for await (const part of answer.body) text = part;
  const clientEndAtMs = performance.now();
  await answer.finish?.();
  if (answer.status !== 200) throw new Error(`the gateway answered ${answer.status}: ${text.slice(0, 200)}`);
  return { startedAtMs, calledAtMs: marks.calledAtMs, upstreamEndedAtMs: marks.endedAtMs, clientEndAtMs };
}

/** Catalogue, workspace and keys of the bench. */
export async function seed({ runtime }: Core, keys: BenchKeys): Promise<void> {
  const read = readGatewayFile(gatewayFileText('http://127.0.0.1:9/v1', keys));
  if (!read.ok) throw new Error(`the gateway file of the bench is not valid: ${JSON.stringify(read.problems)}`);
  const { randomness, clock } = runtime;
  const readVariable = () => undefined;
  await applyGatewayFile({ file: read.file, stores: runtime, readVariable, randomness, nowMs: clock.nowMs() });
}
