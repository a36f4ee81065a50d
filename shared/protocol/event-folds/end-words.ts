// Lists the words of all providers for the end of an answer; no other file has such a list. An unknown word is passed
// on, and counts as a successful end for clients of other interfaces; an empty word counts as missing, and some words
// mean that something broke.

export type EndMeaning =
  /** The model had finished, or stopped at a requested limit. */
  | 'good'
  /** The model was prevented from answering, although its package interprets the word as another end. */
  | 'refused'
  /** A bound ended the answer, although its package interprets the word as a successful end. */
  | 'bounded'
  /** The answer broke off, and nothing before the word is an answer. */
  | 'broken';

const meanings: Readonly<Record<string, EndMeaning>> = {
  // Chat completions
  stop: 'good',
  length: 'good',
  tool_calls: 'good',
  function_call: 'good',
  content_filter: 'good',
  // Mistral: the model's context is full (https://docs.mistral.ai/api/endpoint/chat, November 2026).
  model_length: 'bounded',
  error: 'broken',
  abort: 'broken',
  insufficient_system_resource: 'broken',
  // Messages
  end_turn: 'good',
  max_tokens: 'good',
  stop_sequence: 'good',
  tool_use: 'good',
  pause_turn: 'good',
  refusal: 'good',
  compaction: 'good',
  model_context_window_exceeded: 'good',
  // Responses: the status, and the reason for an incomplete answer
  completed: 'good',
  incomplete: 'good',
  max_output_tokens: 'good',
  steered: 'good',
  max_messages: 'broken',
  cancelled: 'broken',
  failed: 'broken',
  in_progress: 'broken',
  queued: 'broken',
  // Converse
  guardrail_intervened: 'good',
  content_filtered: 'good',
  malformed_model_output: 'broken',
  malformed_tool_use: 'broken',
  // Gemini
  safety: 'good',
  recitation: 'good',
  blocklist: 'good',
  prohibited_content: 'good',
  spii: 'good',
  other: 'good',
  finish_reason_unspecified: 'good',
  language: 'refused',
  no_image: 'refused',
  image_safety: 'refused',
  image_prohibited_content: 'refused',
  image_recitation: 'refused',
  image_other: 'refused',
  malformed_function_call: 'broken',
  malformed_response: 'broken',
  unexpected_tool_call: 'broken',
  too_many_tool_calls: 'broken',
  missing_thought_signature: 'broken',
};

/** Matches the empty word; some servers write `null` in its place. */
const noWord = /^\s*(null)?\s*$/;

export const isEndWord = (word: unknown): word is string => typeof word === 'string' && !noWord.test(word);

/** Returns undefined for a new word. */
export function meaningOfEnd(word: string): EndMeaning | undefined {
  const plain = word.trim().toLowerCase();
  if (Object.hasOwn(meanings, plain)) return meanings[plain];
  if (/^image_/.test(plain)) return 'refused';
  return plain.startsWith('malformed_') ? 'broken' : undefined;
}

export const isListedEnd = (word: string): boolean => Object.hasOwn(meanings, word.toLowerCase());

/** True for a word which means that the answer broke. */
export const isBrokenEnd = (word: unknown): word is string => isEndWord(word) && meaningOfEnd(word) === 'broken';
