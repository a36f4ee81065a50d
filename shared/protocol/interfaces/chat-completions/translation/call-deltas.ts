// Tool calls of a streamed answer as deltas: begun, in pieces, or whole.
import type { AnswerHead, PartOf } from '../../../hub/index.ts';
import { toToolCall } from './answer-words.ts';
import type { Delta } from './deltas.ts';
import type { ThinkingDeltas } from './thinking-deltas.ts';

interface CallDeltas {
  readonly ofStart: (part: PartOf<'tool-input-start'>) => Delta[];
  readonly ofPiece: (part: PartOf<'tool-input-delta'>) => Delta[];
  /** The whole call: of one whose arguments came in pieces everything is known but a signature. */
  readonly ofCall: (part: PartOf<'tool-call'>) => Delta[];
  /** Calls so far. */
  readonly count: () => number;
}

/** Handles one stream. */
export function openCallDeltas(head: AnswerHead, { ofSigned }: ThinkingDeltas): CallDeltas {
  /** Index of each unfinished call, by the package's id. */
  const places = new Map<string, number>();
  /** Calls whose arguments have begun. */
  const written = new Set<string>();
  let count = 0;

  function newPlace(id: string): number {
    const place = count;
    count += 1;
    places.set(id, place);
    return place;
  }

  const signedOf = (place: number, part: PartOf<'tool-input-start' | 'tool-call'>, id: string) =>
    ofSigned(`call ${place}`, part, id);

  return {
    count: () => count,
    ofStart(part) {
      if (part.providerExecuted === true) return [];
      const { id, toolName, providerMetadata } = part;
      const whole = { type: 'tool-call', toolCallId: id, toolName, input: ' ' } as const;
      const call = toToolCall({ ...whole, ...(providerMetadata && { providerMetadata }) }, head);
      const index = places.get(id) ?? newPlace(id);
      const begun = { index, ...call, function: { name: toolName, arguments: '' } };
      return [{ tool_calls: [begun] }, ...signedOf(index, part, id)];
    },
    ofPiece({ id, delta }) {
      const index = places.get(id);
      if (index === undefined || delta === '') return [];
      written.add(id);
      return [{ tool_calls: [{ index, function: { arguments: delta } }] }];
    },
    ofCall(part) {
      if (part.providerExecuted === true) return [];
      const { toolCallId: id } = part;
      const call = toToolCall(part, head);
      const isBegun = places.has(id);
      const isWritten = written.delete(id);
      const index = places.get(id) ?? newPlace(id);
      // Another one may have the same id.
      places.delete(id);
      const signed = signedOf(index, part, id);
      if (isWritten) return signed;
      // A call without arguments: clients read them as JSON.
      const rest = isBegun ? { function: { arguments: call.function.arguments } } : call;
      return [{ tool_calls: [{ index, ...rest }] }, ...signed];
    },
  };
}
