// Gives distinct ids to the calls of an answer whose model gave one id to several calls, because clients match the
// result of a call by its id.
import type { HubPart } from './hub-call.ts';

/** Returns another id for a call whose id is taken. */
export function createDistinctIds(): (id: string) => string {
  const used = new Set<string>();
  return (id) => {
    let distinctId = id;
    for (let count = 2; used.has(distinctId); count += 1) distinctId = `${id}_${count}`;
    used.add(distinctId);
    return distinctId;
  };
}

interface SeenCall {
  readonly id: string;
  /** True if its arguments came in one piece. */
  readonly isWhole: boolean;
}

/** Returns a function for the parts of one answer, in their sequence. */
export function distinctCallIds(): (part: HubPart) => HubPart {
  const distinct = createDistinctIds();
  /** The latest call with an id, by that id. */
  const calls = new Map<string, SeenCall>();
  const begin = (id: string, isWhole: boolean): string => {
    const call = { id: distinct(id), isWhole };
    calls.set(id, call);
    return call.id;
  };
  return (part) => {
    switch (part.type) {
      case 'tool-input-start':
        return { ...part, id: begin(part.id, false) };
      case 'tool-input-delta':
      case 'tool-input-end':
        return { ...part, id: calls.get(part.id)?.id ?? part.id };
      case 'tool-call': {
        const openCall = calls.get(part.toolCallId);
        if (openCall === undefined || openCall.isWhole) return { ...part, toolCallId: begin(part.toolCallId, true) };
        calls.set(part.toolCallId, { ...openCall, isWhole: true });
        return { ...part, toolCallId: openCall.id };
      }
      case 'tool-result':
        return { ...part, toolCallId: calls.get(part.toolCallId)?.id ?? part.toolCallId };
      default:
        return part;
    }
  };
}
