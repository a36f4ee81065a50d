// The parts of a stream for interfaces that write one tool call at a time: what comes while a call is being written waits until that
// has ended. Each part is looked at when it comes and when it goes on, however many calls wait.
import type { HubPart } from './hub-call.ts';

/** For one stream: the parts that go on now. What waits is bounded as the answer is. */
export function oneCallAtATime(): (part: HubPart) => readonly HubPart[] {
  let open: string | undefined;
  /** In the order in which they began: the parts of one call, or what came between two. */
  let waiting: HubPart[][] = [];
  let firstWaiting = 0;
  const waitingCalls = new Map<string, HubPart[]>();

  function wait(part: HubPart, call: string | undefined): void {
    const last = waiting.at(-1);
    const own =
      call === undefined ? (last && callOf(last[0]) === undefined ? last : undefined) : waitingCalls.get(call);
    if (own !== undefined) {
      own.push(part);
      return;
    }
    const group = [part];
    waiting.push(group);
    if (call !== undefined) waitingCalls.set(call, group);
  }

  /** What waited up to a call that has not ended, with what there is of it. */
  function next(): HubPart[] {
    const parts: HubPart[] = [];
    for (; firstWaiting < waiting.length && open === undefined; firstWaiting += 1) {
      const group = waiting[firstWaiting] ?? [];
      for (const part of group) parts.push(part);
      const call = callOf(group[0]);
      if (call === undefined) continue;
      waitingCalls.delete(call);
      if (group[0]?.type === 'tool-input-start' && group.at(-1)?.type !== 'tool-call') open = call;
    }
    if (firstWaiting === waiting.length) {
      waiting = [];
      firstWaiting = 0;
    }
    return parts;
  }

  return (part) => {
    const call = callOf(part);
    if (part.type === 'finish') {
      // The answer is over: so are its calls, whether or not the package said so.
      return [...waiting.slice(firstWaiting).flat(), part];
    }
    if (open !== undefined && call !== open && part.type !== 'error') {
      wait(part, call);
      return [];
    }
    if (part.type === 'tool-input-start') open = call;
    if (part.type !== 'tool-call' || call === undefined) return [part];
    open = undefined;
    return [part, ...next()];
  };
}

/** Undefined: it belongs to none, or to one that the provider runs itself. */
function callOf(part: HubPart | undefined): string | undefined {
  if (part?.type === 'tool-input-start' || part?.type === 'tool-call') {
    if (part.providerExecuted === true) return undefined;
    return part.type === 'tool-call' ? part.toolCallId : part.id;
  }
  return part?.type === 'tool-input-delta' || part?.type === 'tool-input-end' ? part.id : undefined;
}
