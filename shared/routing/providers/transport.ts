// Calls providers. Returns the answer's head, then its body piece by piece.
import { keepAliveIdleMs, socketsPerProviderMax } from '../../foundation/constants/index.ts';
import { createOutgoingCalls, type OutgoingAnswer, type OutgoingRequest } from '../../foundation/outgoing/index.ts';
import type { Clock } from '../../foundation/time/index.ts';

export type UpstreamRequest = Omit<OutgoingRequest, 'method'> & {
  /** Method; default: POST. */
  readonly method?: OutgoingRequest['method'] | undefined;
};
export type UpstreamAnswer = OutgoingAnswer;

export interface Transport {
  /** Sends a request. Rejects with ConnectionBroken if the provider was not reached, or closed the connection. */
  send(request: UpstreamRequest): Promise<UpstreamAnswer>;
  close(): void;
}

export function createTransport(clock: Clock): Transport {
  const calls = createOutgoingCalls({ clock, socketsMax: socketsPerProviderMax, idleSocketMs: keepAliveIdleMs });
  return {
    send: ({ method = 'POST', ...request }) => calls.send({ ...request, method }),
    close: () => calls.close(),
  };
}
