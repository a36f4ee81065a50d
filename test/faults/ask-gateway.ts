// Makes one call of the fault suite without a server, for gateways that are about to be killed or that come after a
// killed one.

import type { Clock } from '../../shared/foundation/time/index.ts';
import type { Gateway } from '../../shared/protocol/http/index.ts';
import { callGateway, type Reply } from '../support/call-gateway.ts';
import type { Keys } from './fault-file.ts';
import type { MixedCall } from './mixed-calls.ts';

/** Resolves when the answer was read and all of its later work is done. `onAnswer` is called before settlement. */
export async function askGateway(
  gateway: Gateway,
  call: MixedCall,
  keys: Keys,
  clock: Clock,
  onAnswer?: (reply: Reply) => void,
): Promise<Reply> {
  const headers = Object.entries(call.headers).map(([name, value]) => [name, [value]] as const);
  const request = {
    headers: { authorization: [`Bearer ${keys[call.key]}`], ...Object.fromEntries(headers) },
    path: `/v1${call.path ?? '/chat/completions'}`,
    arrivedAtMs: clock.nowMs(),
    body: Buffer.from(JSON.stringify(call.body)),
  };
  return callGateway(gateway, request, onAnswer === undefined ? {} : { onReply: onAnswer });
}
