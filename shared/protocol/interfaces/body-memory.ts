// Memory of a request's body: its text is kept while another candidate may need it, its values while a candidate of
// another format is called.
import { nextTurn } from '../../foundation/time/index.ts';
import type { CallMemory } from '../memory-budget/index.ts';
import type { ClientRequest } from './client-interface.ts';

/** Beside its characters: an object with names takes some hundred bytes in V8, its place in the table 20. */
const valuesTimes = 4;
/** Length up to which nothing is dropped: a short body may be sent again where an answer breaks. */
const longCharacters = 64 * 1024;

export interface BodyMemory {
  readonly isLong: boolean;
  /** Bytes of the media in the parsed part of a long body, counted until they are dropped. */
  readonly mediaBytes: number;
  /** Parses a long body in turns of the event loop. Rejects with a GatewayError where there is no memory. */
  readonly readValues: () => Promise<void>;
  readonly letGoValues: () => void;
  /** Drops the media of a long body once its size and needs are known: nothing else reads them. */
  readonly letGoMedia: () => void;
  /** Drops a long body when no further candidate is called. */
  readonly letGo: () => void;
}

/** `textBytes`: already counted for the text, and for the form around it. */
export function openBodyMemory(memory: CallMemory, request: ClientRequest, textBytes: number): BodyMemory {
  const values = memory.openPart();
  const isLong = request.text().text.length + (request.form?.byteLength ?? 0) > longCharacters;
  const mediaBytes = isLong ? sumOf(promptMembers.map((name) => longTextsIn(request.raw[name], false))) : 0;
  let hasValues = false;
  const letGoValues = () => {
    if (!hasValues) return;
    hasValues = false;
    request.letGoValues();
    values.keepOnly(0);
  };
  return {
    isLong,
    mediaBytes,
    async readValues() {
      if (!isLong || hasValues) return;
      const { text, tableBytes } = request.text();
      await values.reserve(text.length + valuesTimes * tableBytes);
      hasValues = true;
      await request.readWholeBody(nextTurn);
    },
    letGoValues,
    letGoMedia() {
      if (!isLong) return;
      for (const name of promptMembers) longTextsIn(request.raw[name], true);
      memory.release(mediaBytes);
    },
    letGo() {
      letGoValues();
      if (!isLong || request.text().text === '') return;
      request.text().letGo();
      request.form?.letGo();
      memory.release(textBytes);
    },
  };
}

/** Beside the text of the body, the images in them would lie in memory a second time. */
const promptMembers = ['messages', 'input', 'system'];
const mediaMinCharacters = 16 * 1024;

/** Their characters. */
function longTextsIn(value: unknown, letsGo: boolean): number {
  if (typeof value !== 'object' || value === null) return 0;
  const holder = value as Record<string, unknown>;
  let characters = 0;
  for (const name of Object.keys(holder)) {
    const inner = holder[name];
    if (typeof inner !== 'string') characters += longTextsIn(inner, letsGo);
    else if (inner.length > mediaMinCharacters) {
      characters += inner.length;
      if (letsGo) holder[name] = '';
    }
  }
  return characters;
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);
