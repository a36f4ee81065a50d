import type { HubPart } from './hub-call.ts';

interface CallWriting {
  /** The package's id of the call that is being written. */
  readonly openCall: () => string | undefined;
  readonly endCall: (id: string) => void;
  readonly write: (part: HubPart) => void;
}

/** For one stream whose client gets one call at a time: what comes for another part waits until the call has ended. */
export function callsInOrder({ openCall, endCall, write }: CallWriting): (part: HubPart) => void {
  /** Bounded as the answer is. */
  let waiting: HubPart[] = [];

  function route(part: HubPart): void {
    const call = openCall();
    const isOfCall = ('id' in part && part.id === call) || (part.type === 'tool-call' && part.toolCallId === call);
    if (call === undefined || isOfCall) write(part);
    else if (part.type === 'finish') {
      // The answer is over: so is the call, whether or not the package said so.
      endCall(call);
      routeWaiting();
      route(part);
    } else waiting.push(part);
  }

  function routeWaiting(): void {
    const parts = waiting;
    waiting = [];
    for (const part of parts) route(part);
  }

  return (part) => {
    route(part);
    if (openCall() === undefined && waiting.length > 0) routeWaiting();
  };
}
