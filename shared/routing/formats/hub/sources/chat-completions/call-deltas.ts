// Tool calls of a streamed answer as deltas: begun, in pieces, or whole.
import type { AnswerHead, PartOf } from '../../middle/index.ts';
import type { Delta, ThinkingDeltas } from './thinking-deltas.ts';
import { toToolCall } from './write-completion.ts';

export interface CallDeltas {
  readonly ofStart: (part: PartOf<'tool-input-start'>) => Delta[];
  readonly ofPiece: (part: PartOf<'tool-input-delta'>) => Delta[];
  /** The whole call: of one whose arguments came in pieces everything is known but a signature. */
  readonly ofCall: (part: PartOf<'tool-call'>) => Delta[];
  /** Calls so far. */
  readonly count: () => number;
}

/** For one stream. */
export function openCallDeltas(head: AnswerHead, { ofSigned }: ThinkingDeltas): CallDeltas {
  /** By the package's ids: the place of each. */
  const places = new Map<string, number>();
  /** Of those, the ones whose arguments have begun. */
  const written = new Set<string>();

  function newPlace(id: string): number {
    const place = places.size;
    places.set(id, place);
    return place;
  }

  return {
    count: () => places.size,
    ofStart(part) {
      if (part.providerExecuted === true) return [];
      const { id, toolName, providerMetadata } = part;
      const whole = { type: 'tool-call', toolCallId: id, toolName, input: ' ' } as const;
      const call = toToolCall({ ...whole, ...(providerMetadata && { providerMetadata }) }, head);
      const index = places.get(id) ?? newPlace(id);
      const begun = { index, ...call, function: { name: toolName, arguments: '' } };
      return [{ tool_calls: [begun] }, ...ofSigned(id, part, id)];
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
      const signed = ofSigned(id, part, id);
      const index = places.get(id);
      if (index === undefined) return [{ tool_calls: [{ index: newPlace(id), ...call }] }, ...signed];
      if (written.has(id)) return signed;
      // A call without arguments: clients read them as JSON.
      return [{ tool_calls: [{ index, function: { arguments: call.function.arguments } }] }, ...signed];
    },
  };
}
