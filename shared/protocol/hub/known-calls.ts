// Collects the tool calls of a conversation, with ids that every target accepts and the arguments that the model wrote.
import { jsonValuesMax } from '../../foundation/constants/index.ts';
import { sha256Hex } from '../../foundation/ids/index.ts';
import { isJsonObject, type JsonObject, parseInnerJson } from '../wire/index.ts';

export interface KnownCall {
  readonly id: string;
  readonly name: string;
}

export interface KnownCalls {
  /** Adds a call that the assistant made. `id` is the id that the client sent. */
  add(id: unknown, name: string): KnownCall;
  /** Called before the calls of an answer. Earlier calls get no further results. */
  beginAnswer(): void;
  /**
   * Returns the call that a result answers. Of several calls in one answer with this id, the next call without a result
   * is returned, else the latest call.
   */
  takeResult(id: unknown): KnownCall | undefined;
  has(id: unknown): boolean;
  /** Returns arguments as an object, which every target requires. */
  readArguments(text: unknown): JsonObject;
}

/**
 * Matches ids that every target accepts. Ids of other providers may have further characters, and OpenAI's chat
 * completions accept 40 characters.
 */
const commonId = /^[\w-]{1,40}$/;

export function createKnownCalls(): KnownCalls {
  const calls = new Map<unknown, KnownCall>();
  const unanswered = new Map<unknown, KnownCall[]>();
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

  /** Returns undefined for text that is not JSON, or has more values than a conversation may have. */
  function parsed(text: string): unknown {
    const inner = parseInnerJson(text, valuesLeft);
    valuesLeft -= inner?.values ?? 0;
    return inner?.value;
  }

  return {
    add(id, name) {
      // Some models count their calls from zero in each answer, and targets refuse an id that occurred before.
      const isUsable = typeof id === 'string' && commonId.test(id) && !usedIds.has(id);
      const call = { id: isUsable ? id : newId(), name };
      usedIds.add(call.id);
      calls.set(id, call);
      const before = unanswered.get(id);
      if (before === undefined) unanswered.set(id, [call]);
      else before.push(call);
      return call;
    },
    beginAnswer: () => unanswered.clear(),
    takeResult: (id) => unanswered.get(id)?.shift() ?? calls.get(id),
    has: (id) => calls.has(id),
    readArguments(text) {
      // A model that has no parameters to fill may have written nothing.
      if (text === undefined || text === null || (typeof text === 'string' && text.trim() === '')) return {};
      const input = typeof text === 'string' ? (parsed(text) ?? text) : text;
      return isJsonObject(input) ? input : { rawInvalidInput: input };
    },
  };
}

// Makes ids of tool calls for a client of another interface. The ids have characters and a length that every provider
// accepts, and never repeat the id of an earlier call in the conversation. Some servers count their calls from zero in
// each answer.

/** Matches random ids. Shorter ids are counters. */
const drawnId = /^[\w-]{16,40}$/;
const digestCharacters = 24;

/**
 * Returns the id for the client, which is always the same for the same call. `answerId` is the id of the answer that
 * makes the call.
 */
export const clientCallId = (answerId: string, id: string): string =>
  drawnId.test(id) ? id : `call_${sha256Hex(`${answerId} ${id}`).slice(0, digestCharacters)}`;
