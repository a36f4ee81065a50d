// What one chunk of a provider's stream means to the gateway. Lenient: a member we do not know changes nothing.
import { isJsonObject } from './json-body.ts';

export interface ChunkFacts {
  /** Content, reasoning, a tool call, a refusal, audio or a finish reason: what a client can use (contract 4). */
  readonly hasOutput: boolean;
  /** No choice in it, only usage: goes to clients that asked for it. */
  readonly isUsageOnly: boolean;
  readonly usage: Record<string, unknown> | undefined;
  /** The provider's error object, of whatever shape. */
  readonly error: unknown;
  /** Choice index → whether this chunk finished it. */
  readonly choices: readonly { readonly index: number; readonly finished: boolean }[];
  /** Bytes of text in it, for the estimate where a provider reports no usage. */
  readonly outputBytes: number;
}

export interface StreamChunk {
  /** The JSON text as it came: relayed byte for byte. */
  readonly text: string;
  readonly facts: ChunkFacts;
  readonly head: Record<string, unknown>;
}

/** Reads one event. Undefined: it is no JSON object, so the stream is broken. */
export function readStreamChunk(text: string): StreamChunk | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isJsonObject(json) ? { text, head: json, facts: factsOf(json) } : undefined;
}

function factsOf(json: Record<string, unknown>): ChunkFacts {
  const choices = Array.isArray(json.choices) ? json.choices.filter(isJsonObject) : [];
  const usage = isJsonObject(json.usage) ? json.usage : undefined;
  const deltas = choices.map((choice) => (isJsonObject(choice.delta) ? choice.delta : {}));
  const read = choices.map((choice, position) => ({
    index: typeof choice.index === 'number' ? choice.index : position,
    finished: typeof choice.finish_reason === 'string' && choice.finish_reason !== '',
  }));
  return {
    hasOutput: read.some((choice) => choice.finished) || deltas.some(hasOutput),
    isUsageOnly: choices.length === 0 && usage !== undefined,
    usage,
    // Some servers send the error itself, `{"object": "error", "message": …}`, without a member around it.
    error: json.error ?? (json.object === 'error' ? json : undefined),
    choices: read,
    outputBytes: deltas.reduce((sum, delta) => sum + outputBytesOf(delta), 0),
  };
}

/** What a client can use, whatever a provider calls it: `reasoning_content` and `reasoning_details` begin alike. */
const outputMember = /^(content|refusal|reasoning|thinking|tool_calls|function_call|audio|image)/;

/** A role, an id or a tier is no output: a provider may fail right after it (users' streams were lost to that). */
const hasOutput = (delta: Record<string, unknown>): boolean =>
  Object.entries(delta).some(([name, value]) => outputMember.test(name) && !isEmpty(value));

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

/** Text of content, refusal, reasoning, or tool call arguments, whatever a provider calls them. */
export function outputBytesOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + outputBytesOf(item), 0);
  if (!isJsonObject(value)) return 0;
  return Object.entries(value)
    .filter(([name]) => !structuralMembers.has(name))
    .reduce((sum, [, member]) => sum + outputBytesOf(member), 0);
}

const structuralMembers = new Set(['role', 'id', 'type', 'index']);
