// One call straight into the core: for gateways that have no server because they are about to die, or came after one.

import type { Clock } from '../../shared/foundation/time/index.ts';
import type { Gateway } from '../../shared/protocol/http/index.ts';
import type { Reply } from '../fuzz/fuzz-gateway.ts';
import type { Keys } from './fault-file.ts';
import type { PlannedCall } from './mixed-calls.ts';

/**
 * Resolves when the answer was read to its end and everything that follows it is done. `onAnswer` hears of the answer
 * before that: a client has it by then.
 */
export async function askGateway(
  gateway: Gateway,
  call: PlannedCall,
  keys: Keys,
  clock: Clock,
  onAnswer: (reply: Reply) => void = () => {},
): Promise<Reply> {
  const bytes = Buffer.from(JSON.stringify(call.body));
  const headers = Object.entries(call.headers).map(([name, value]) => [name, [value]] as const);
  const response = await gateway(
    {
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { authorization: [`Bearer ${keys[call.key]}`], ...Object.fromEntries(headers) },
      readBody: async () => bytes,
      arrivedAtMs: clock.nowMs(),
    },
    { clientGone: new AbortController().signal },
  );
  const isStream = typeof response.body !== 'string';
  let text = '';
  if (typeof response.body === 'string') text = response.body;
  else for await (const piece of response.body) text += piece;
  const reply = { status: response.status, headers: response.headers, text, isStream };
  onAnswer(reply);
  await response.finish?.();
  return reply;
}
