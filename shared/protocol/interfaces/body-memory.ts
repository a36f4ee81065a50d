// The parts of a request that stay in memory: its text while another candidate may need it, its values while a
// candidate of another format is called.
import { type BodyAllocation, type RequestPath, smallBodyMaxBytes } from '../memory-budget/index.ts';
import type { ClientRequest } from './client-interface.ts';

export interface BodyMemory {
  readonly isLong: boolean;
  /** Memory of the body, within the memory of the call. */
  readonly allocation: BodyAllocation;
  /** Parses a long body in turns of the event loop. */
  readonly readValues: () => Promise<void>;
  readonly letGoValues: () => void;
  /** Drops the media of a long body once its size and needs are known, because nothing else reads them. */
  readonly letGoMedia: () => void;
  /**
   * Drops a long body when no further candidate is called. A short one may be sent again if an answer breaks. `path`
   * is the form in which a part of it stays elsewhere.
   */
  readonly letGo: (path?: RequestPath) => void;
}

export function openBodyMemory(request: ClientRequest, allocation: BodyAllocation): BodyMemory {
  const isLong = request.text().text.length + (request.form?.byteLength ?? 0) > smallBodyMaxBytes;
  let hasValues = false;
  const letGoValues = () => {
    if (!hasValues) return;
    hasValues = false;
    request.letGoValues();
  };
  return {
    isLong,
    allocation,
    async readValues() {
      if (!isLong || hasValues) return;
      hasValues = true;
      await request.readWholeBody();
    },
    letGoValues,
    letGoMedia() {
      if (isLong) for (const name of promptMembers) dropLongTexts(request.raw[name]);
    },
    letGo(path) {
      letGoValues();
      if (isLong) {
        request.text().letGo();
        request.form?.letGo();
      }
      if (path !== undefined) allocation.keep(path);
      else if (isLong) allocation.end();
      else allocation.keep('relayedSent');
    },
  };
}

/** Fields of prompts, whose images would be in memory a second time, beside the text of the body. */
const promptMembers = ['messages', 'input', 'system'];
const mediaMinCharacters = 16 * 1024;

function dropLongTexts(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const holder = value as Record<string, unknown>;
  for (const name of Object.keys(holder)) {
    const inner = holder[name];
    if (typeof inner !== 'string') dropLongTexts(inner);
    else if (inner.length > mediaMinCharacters) holder[name] = '';
  }
}
