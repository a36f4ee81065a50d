// Decides which parts of a request stay in memory: its text while another candidate may need it, its values while a
// candidate of another format is called.
import { type BodyAllocation, type RequestPath, smallBodyMaxBytes } from '../memory-budget/index.ts';
import type { ClientRequest } from './client-interface.ts';

export interface BodyMemory {
  readonly isLong: boolean;
  /** Memory of the body, within the memory of the call. */
  readonly allocation: BodyAllocation;
  /** Parses a long body in turns of the event loop. */
  readonly readValues: () => Promise<void>;
  /**
   * Makes the body ready to be sent on this path, also if an earlier sending has released a part of it. Returns
   * undefined if there is nothing to wait for. Rejects if there is no memory for it.
   */
  readonly prepare: (path: SentPath) => Promise<void> | undefined;
  /** Called when the body has left and a package has copied the values that it needs. */
  readonly sent: (path: SentPath) => void;
  /** Drops the media of a long body once its size and needs are known, because nothing else reads them. */
  readonly letGoMedia: () => void;
  /**
   * Drops a long body when no further candidate is called. A short body may be sent again if an answer breaks. `path`
   * is the form in which a part of the body stays elsewhere.
   */
  readonly letGo: (path?: RequestPath) => void;
}

/** Path on which a body is sent to a provider. */
type SentPath = Extract<RequestPath, 'relayed' | 'translated'>;

/** `isOfClient` is false for the request of a function's revision, of which nothing is dropped. */
export function openBodyMemory(request: ClientRequest, allocation: BodyAllocation, isClientRequest = true): BodyMemory {
  const isLong = isClientRequest && request.text().text.length + (request.form?.byteLength ?? 0) > smallBodyMaxBytes;
  let hasValues = false;
  const letGoValues = () => {
    if (!hasValues) return;
    hasValues = false;
    request.letGoValues();
  };
  async function readValues(): Promise<void> {
    if (!isLong || hasValues) return;
    hasValues = true;
    await request.readWholeBody();
  }
  return {
    isLong,
    allocation,
    readValues,
    prepare(path) {
      const waits = allocation.take(path);
      if (!isLong) return waits;
      if (path === 'translated') return waits === undefined ? readValues() : waits.then(readValues);
      letGoValues();
      return waits;
    },
    sent(path) {
      allocation.keep(path === 'translated' ? 'translatedSent' : 'relayedSent');
      letGoValues();
    },
    letGoMedia() {
      if (isLong) for (const name of promptMembersOf(request)) dropLongText(request.raw as JsonValues, name);
    },
    letGo(path) {
      letGoValues();
      if (isLong) {
        request.text().letGo();
        request.form?.letGo();
        for (const name of promptMembersOf(request)) delete (request.raw as JsonValues)[name];
      }
      if (path !== undefined) allocation.keep(path);
      else if (isLong || !isClientRequest) allocation.end();
      else allocation.keep('relayedSent');
    },
  };
}

/** Fields of prompts, whose texts and images would be in memory a second time, in addition to the text of the body. */
const promptMembersOf = ({ promptMember }: ClientRequest): ReadonlySet<string> =>
  new Set(['messages', 'input', 'system', promptMember]);
const mediaMinCharacters = 16 * 1024;

type JsonValues = Record<string, unknown>;

function dropLongText(holder: JsonValues, name: string): void {
  const inner = holder[name];
  if (typeof inner !== 'string') dropLongTexts(inner);
  else if (inner.length > mediaMinCharacters) holder[name] = '';
}

function dropLongTexts(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const holder = value as JsonValues;
  for (const name of Object.keys(holder)) dropLongText(holder, name);
}
