// Plain calls to a running gateway, as any client makes them.
import { okStatus } from '../../shared/errors/index.ts';
import { readJsonBody } from '../../shared/protocol/wire/index.ts';
import { type createTransport, readBoundedBody } from '../../shared/routing/providers/index.ts';

type Body = Readonly<Record<string, unknown>>;

/** The gateway answers within 55 seconds. */
const callTimeoutMs = 65_000;
const connectTimeoutMs = 5_000;
const answerMaxBytes = 16 * 1024 * 1024;

export interface GatewayAccess {
  readonly transport: Pick<ReturnType<typeof createTransport>, 'send'>;
  /** Ends in /v1, as clients write it. */
  readonly baseUrl: string;
  readonly key: string;
}

/** The completion. Throws an Error with the gateway's own code and words for any other answer. */
export async function callGateway({ transport, baseUrl, key }: GatewayAccess, body: Body): Promise<Body> {
  const answer = await transport.send({
    url: new URL(`${baseUrl.replace(/\/$/, '')}/chat/completions`),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    connectTimeoutMs,
    signal: AbortSignal.timeout(callTimeoutMs),
  });
  const text = (await readBoundedBody(answer.body, answerMaxBytes, () => {})) ?? '';
  const read = readJsonBody(Buffer.from(text));
  const value: Body = read.kind === 'unreadable' ? {} : read.value;
  if (answer.status === okStatus && read.kind !== 'unreadable') return value;
  throw new Error(`the gateway answered ${answer.status} ${String(value.error ?? '')}: ${String(value.message ?? '')}`);
}
