// Orders the parts of a stream for interfaces that write one tool call at a time. Parts that arrive during a call wait
// until it has ended. Each part is processed twice, however many calls wait.
import type { HubPart } from './hub-call.ts';

/** Processes one stream. Returns the parts that can be written now. Waiting parts are bounded as the answer is. */
export function oneCallAtATime(): (part: HubPart) => readonly HubPart[] {
  let open: string | undefined;
  /**
   * Waiting parts in the sequence in which they started. Each list has the parts of one call, or the parts between two
   * calls.
   */
  let waiting: HubPart[][] = [];
  let firstWaiting = 0;
  const waitingCalls = new Map<string, HubPart[]>();

  function wait(part: HubPart, call: string | undefined): void {
    const last = waiting.at(-1);
    const callParts =
      call === undefined ? (last && callOf(last[0]) === undefined ? last : undefined) : waitingCalls.get(call);
    if (callParts !== undefined) {
      callParts.push(part);
      return;
    }
    const group = [part];
    waiting.push(group);
    if (call !== undefined) waitingCalls.set(call, group);
  }

  /** Returns the waiting parts up to a call that has not ended, with its parts so far. */
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
      // The answer is over, and so are its calls, whether or not the package has ended them.
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

/** Returns undefined for a part that belongs to no call, or to a call that the provider runs itself. */
function callOf(part: HubPart | undefined): string | undefined {
  if (part?.type === 'tool-input-start' || part?.type === 'tool-call') {
    if (part.providerExecuted === true) return undefined;
    return part.type === 'tool-call' ? part.toolCallId : part.id;
  }
  return part?.type === 'tool-input-delta' || part?.type === 'tool-input-end' ? part.id : undefined;
}
