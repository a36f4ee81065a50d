// The tool calls of a conversation: ids that every target accepts, and the arguments that the model wrote.
import { jsonValuesMax } from '../../foundation/constants/index.ts';
import { sha256Hex } from '../../foundation/ids/index.ts';
import { isJsonObject, type JsonObject, parseInnerJson } from '../wire/index.ts';

export interface KnownCall {
  readonly id: string;
  readonly name: string;
}

export interface KnownCalls {
  /** A call that the assistant made. `id`: as the client has it. */
  add(id: unknown, name: string): KnownCall;
  /** The call that a result answers: the latest with this id. */
  find(id: unknown): KnownCall | undefined;
  /** Arguments are an object to every target. */
  readArguments(text: unknown): JsonObject;
}

/**
 * Ids of other providers may have characters that this one refuses, or be longer: OpenAI's chat completions accept 40
 * characters.
 */
const commonId = /^[\w-]{1,40}$/;

export function createKnownCalls(): KnownCalls {
  const calls = new Map<unknown, KnownCall>();
  const usedIds = new Set<string>();
  let replaced = 0;
  let valuesLeft = jsonValuesMax;

  function newId(): string {
    let id: string;
    do {
      id = `tool_call_${replaced}`;
      replaced += 1;
    } while (usedIds.has(id));
    return id;
  }

  /** Returns undefined for a text that is no JSON, or has more values than one conversation may. */
  function parsed(text: string): unknown {
    const inner = parseInnerJson(text, valuesLeft);
    valuesLeft -= inner?.values ?? 0;
    return inner?.value;
  }

  return {
    add(id, name) {
      // Some models count their calls anew in each answer, and targets refuse an id that was there before.
      const isUsable = typeof id === 'string' && commonId.test(id) && !usedIds.has(id);
      const call = { id: isUsable ? id : newId(), name };
      usedIds.add(call.id);
      calls.set(id, call);
      return call;
    },
    find: (id) => calls.get(id),
    readArguments(text) {
      // A model that was given no parameters may have written nothing.
      if (text === undefined || text === null || (typeof text === 'string' && text.trim() === '')) return {};
      const input = typeof text === 'string' ? (parsed(text) ?? text) : text;
      return isJsonObject(input) ? input : { rawInvalidInput: input };
    },
  };
}

// Ids of tool calls for a client of another interface: in characters and of a length that every provider accepts, and
// never one of an earlier call in its conversation. Some servers count their calls from zero in each answer.

/** Shorter ones are counted, not drawn. */
const drawnId = /^[\w-]{16,40}$/;
const digestCharacters = 24;

/** `answerId`: of the answer that makes the call. The same for the same call. */
export const clientCallId = (answerId: string, id: string): string =>
  drawnId.test(id) ? id : `call_${sha256Hex(`${answerId} ${id}`).slice(0, digestCharacters)}`;
