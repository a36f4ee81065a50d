// Stores the bodies of one call, as the client sent and got them, and as providers got them if those bodies differ. The
// bodies are collected while the call runs, and written after the answer. No call waits for the write, or fails because
// of it.
import {
  type ContentDocument,
  contentMaxBytes,
  type UpstreamContent,
  writeContent,
} from '../../../shared/accounting/content-log/index.ts';
import { effectiveContentLog, readKeySetting } from '../../../shared/configuration/keys/index.ts';
import { type ContentKeep, frameStreamType } from '../../../shared/foundation/constants/index.ts';
import { sha256Hex } from '../../../shared/foundation/ids/index.ts';
import { maskCharacter, maskKeys } from '../../../shared/foundation/log/index.ts';
import { inOneTurn, nextTurn, waitAtMost } from '../../../shared/foundation/time/index.ts';
import { eventsOfFrameText } from '../../../shared/protocol/event-frames/index.ts';
import type { BodyPart, GatewayResponse } from '../../../shared/protocol/http/index.ts';
import { answerBytes, type Copies, textBytesInMemory } from '../../../shared/protocol/memory-budget/index.ts';
import { toEventLine } from '../../../shared/protocol/wire/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { AdmittedCall, CallContent } from '../stages.ts';
import { keepsProviderText } from './log-attempts.ts';

type Dependencies = Pick<GatewayDependencies, 'memory' | 'blobs' | 'clock' | 'log'>;
export type ContentCall = Pick<AdmittedCall, 'planned' | 'key'>;

/** Time limit of the write. The record of the call waits for it, so slower storage loses the bodies. */
const writeMaxMs = 3_000;
/** Time of a settlement that remains for the record. */
const recordMs = 1_000;

/** Writes an error as the client gets it. */
type ErrorAnswer = (error: unknown) => GatewayResponse;

/** Returns undefined if nothing of this call is stored. */
export function openContent(
  deps: Dependencies,
  { planned: { identified, terms }, key }: ContentCall,
  errorAnswer: ErrorAnswer,
): CallContent | undefined {
  const { parsed, workspace } = identified;
  const { byokKey, clientBody } = parsed;
  const { correlationId: id } = parsed.scope;
  const settings = effectiveContentLog(workspace.content_log, readKeySetting(key, 'contentLog'));
  if (settings === undefined || !keepsProviderText(terms) || !isInShare(id, settings.share)) return undefined;
  const { keep } = settings;
  const copies = deps.memory.openCopies();
  const clientSpace = openSpace(copies, contentMaxBytes);
  const request = clientSpace.take(clientBody.request.text().text);
  const isRequestCut = clientSpace.isCut();
  const providerSpace = openSpace(copies, contentMaxBytes - clientSpace.bytes());
  const secrets = new Set(byokKey === undefined ? [] : [byokKey]);
  const sentBodies: TakenContent[] = [];
  let blocked: string | undefined;
  let isBlockedCut = false;
  const answer = watchAnswer((text) => clientSpace.take(text));

  const gather = async (): Promise<ContentDocument> => {
    const cut = clientSpace.isCut() || providerSpace.isCut();
    const content = { id, workspace: workspace.id, cut, request, answer: answer.gathered(), sent: sentBodies, blocked };
    const cuts = { isRequestCut, isAnswerCut: clientSpace.isCut(), isBlockedCut, secrets };
    return await finishContent(content, cuts);
  };

  async function write(limitMs: number): Promise<boolean> {
    const document = await gather();
    await writeInTime(deps, { keep, document, limitMs });
    return document.cut;
  }

  return {
    sent({ secrets: used, ...one }, isLogged) {
      for (const secret of used) secrets.add(secret);
      const body = isLogged ? providerSpace.take(one.body) : '';
      if (body !== '') sentBodies.push({ ...one, body, isCut: body.length < one.body.length });
    },
    blocked(text) {
      const beginning = providerSpace.take(text);
      isBlockedCut ||= beginning.length < text.length;
      blocked = blocked === undefined ? beginning : `${blocked}\n${beginning}`;
    },
    async watch(answering) {
      try {
        return answer.watched(await answering);
      } catch (error) {
        answer.watched(errorAnswer(error));
        throw error;
      }
    },
    bodies: gather,
    async write(deadline) {
      try {
        const limitMs = Math.max(0, Math.min(writeMaxMs, deadline.remainingMs() - recordMs));
        return { state: 'kept', keep, cut: await write(limitMs) };
      } catch (error) {
        const fields = { correlation_id: id, workspace_id: workspace.id };
        deps.log.error({ event: 'content_not_kept', failed_control: 'content', ...fields }, error);
        return { state: 'failed', keep, cut: false };
      } finally {
        copies.end();
      }
    },
  };
}

const hashDigits = 8;

/** Decides by a hash of the id, so that every process decides alike. */
const isInShare = (id: string, share: number): boolean =>
  share >= 1 || Number.parseInt(sha256Hex(id).slice(0, hashDigits), 16) < share * 16 ** hashDigits;

interface ContentWrite {
  readonly keep: ContentKeep;
  readonly document: ContentDocument;
  readonly limitMs: number;
}

async function writeInTime({ blobs, clock }: Dependencies, { keep, document, limitMs }: ContentWrite): Promise<void> {
  await nextTurn();
  const stop = new AbortController();
  const writing = writeContent(blobs, keep, document, { signal: stop.signal });
  await waitAtMost(clock, limitMs, writing, () => {
    stop.abort();
    throw new Error(`the storage of bodies gave no answer within ${limitMs} ms`);
  });
}

// Contains the collected bodies of a call, masked and within the bounds of their document.

interface TakenContent extends UpstreamContent {
  readonly isCut: boolean;
}

interface Taken extends ContentDocument {
  readonly sent: readonly TakenContent[];
}

interface Masking {
  readonly isRequestCut: boolean;
  readonly isAnswerCut: boolean;
  readonly isBlockedCut: boolean;
  readonly secrets: ReadonlySet<string>;
}

/** Masks the bodies first and bounds them then, so that the bound cuts no credential in two. */
const finishContent = async (taken: Taken, masking: Masking): Promise<ContentDocument> =>
  withinBounds(await withoutSecrets(taken, masking));

/** Cuts the document to its bounds. The client's own bodies are cut last. */
function withinBounds(document: ContentDocument): ContentDocument {
  let leftBytes = contentMaxBytes;
  let { cut } = document;
  const fitting = <Part extends { readonly body: string }>(part: Part): Part => {
    const body = beginningOf(part.body, leftBytes);
    leftBytes -= Buffer.byteLength(body);
    cut ||= body.length < part.body.length;
    return { ...part, body };
  };
  const { body: request } = fitting({ body: document.request });
  const answer = document.answer && fitting(document.answer);
  const sentBodies = document.sent.map(fitting);
  const blocked = document.blocked === undefined ? undefined : fitting({ body: document.blocked }).body;
  return { ...document, request, answer, sent: sentBodies, blocked, cut };
}

async function withoutSecrets(
  taken: Taken,
  { isRequestCut, isAnswerCut, isBlockedCut, secrets }: Masking,
): Promise<ContentDocument> {
  const clean = async (text: string, isCut: boolean): Promise<string> => {
    if (text.length > inOneTurn.checkedCharacters) await nextTurn();
    return (isCut ? maskCutContent : maskContent)(text, secrets);
  };
  const { request, answer, sent, blocked } = taken;
  return {
    ...taken,
    request: await clean(request, isRequestCut),
    answer: answer && { ...answer, body: await clean(answer.body, isAnswerCut) },
    blocked: blocked && (await clean(blocked, isBlockedCut)),
    sent: await Promise.all(sent.map(async ({ isCut, ...one }) => ({ ...one, body: await clean(one.body, isCut) }))),
  };
}

// Masks credentials in the bodies of a call before they are stored. The work grows linearly with the text.

/** Matches keys of well-known providers by their prefix. A word without a digit is not a key. */
const keyShape = /\b(?:(?:sk|pk|rk|gsk|csk|xai|hf|ghp|pplx|nvapi)[-_][\w-]{16,}|AIza[\w-]{20,}|A[KS]IA[A-Z0-9]{12,})/g;
/** Matches `https://user:password@host`; below it, parameters of a URL that sign it or contain a key. */
const userInUrl = /:\/\/[^/\s@"'\\:]{1,256}:[^/\s@"'\\]{1,256}@/g;
const keyInUrl =
  /([?&](?:[\w-]{0,32}(?:api_?key|token|signature|secret|password)|key|sig|x-goog-credential|x-amz-credential)=)[^\s&"'<>\\#]{1,4096}/gi;

/** Length above that of any credential of a known shape. */
const tailMinCharacters = 8_192;

/**
 * Masks a text that was cut at its end. The last part of the text is dropped, because it may contain the beginning of a
 * credential.
 */
function maskCutContent(text: string, secrets: ReadonlySet<string>): string {
  const lengths = [...secrets].flatMap(formsOf).map(({ length }) => length);
  const tail = text.slice(-Math.max(tailMinCharacters, ...lengths));
  const maskedText = maskContent(text, secrets);
  const keptCharacters = Math.max(0, maskedText.length - maskContent(tail, secrets).length);
  return maskedText.slice(0, keptCharacters).replace(/[\uD800-\uDBFF]$/, '');
}

const formsOf = (secret: string): string[] => [...new Set([secret, JSON.stringify(secret).slice(1, -1)])];

/** Masks a text. `secrets` are the credentials of this call's own provider calls, both raw and as JSON escapes them. */
function maskContent(text: string, secrets: Iterable<string>): string {
  let maskedText = maskKeys(text)
    .replace(keyShape, (key) => (/\d/.test(key) ? maskCharacter : key))
    .replace(userInUrl, `://${maskCharacter}@`)
    .replace(keyInUrl, `$1${maskCharacter}`);
  for (const secret of secrets) {
    for (const spelling of formsOf(secret)) maskedText = maskedText.replaceAll(spelling, maskCharacter);
  }
  return maskedText;
}

// Collects the text of an answer while it is sent to the client.

/** `take` returns the part of a text that is stored. */
function watchAnswer(take: (text: string) => string) {
  const parts: string[] = [];
  let status: number | undefined;
  let hasFrames = false;
  const add = (text: string) => void parts.push(take(text));
  return {
    gathered: () =>
      status === undefined ? null : { status, body: hasFrames ? asEventLines(parts.join('')) : parts.join('') },
    watched(response: GatewayResponse): GatewayResponse {
      ({ status } = response);
      hasFrames = response.headers['content-type'] === frameStreamType;
      const { body, errorEndText } = response;
      if (typeof body === 'string') {
        add(body);
        return response;
      }
      const closing = (why: 'failed' | 'timed_out'): string => {
        const end = errorEndText?.(why) ?? '';
        add(end);
        return end;
      };
      return { ...response, body: watchedParts(body, add), ...(errorEndText && { errorEndText: closing }) };
    },
  };
}

/** Writes frames as server-sent events, which people and programs can read. */
const asEventLines = (frames: string): string =>
  eventsOfFrameText(frames)
    .map(({ name, text }) => toEventLine(name === invokedChunk ? bytesIn(text) : text, name))
    .join('');

/** Type of InvokeModel's events, which contain the model's own events. */
const invokedChunk = 'chunk';

function bytesIn(text: string): string {
  const { bytes } = JSON.parse(text) as { readonly bytes: string };
  return Buffer.from(bytes, 'base64').toString('utf8');
}

function watchedParts(body: AsyncIterable<BodyPart>, add: (text: string) => void): AsyncIterable<BodyPart> {
  return {
    [Symbol.asyncIterator]() {
      const parts = body[Symbol.asyncIterator]();
      return {
        async next() {
          const read = await parts.next();
          if (read.done !== true) add(read.value.text);
          return read;
        },
        return: async () => (await parts.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}

// Reserves bytes for the bodies of a call, as far as memory is free. No call waits for memory.

interface ContentSpace {
  /** Returns as much of the text, from its beginning, as fits. */
  take(text: string): string;
  bytes(): number;
  isCut(): boolean;
}

function openSpace(copies: Copies, maxBytes: number): ContentSpace {
  let bytes = 0;
  let leftBytes = maxBytes;
  let isCut = false;
  return {
    take(text) {
      const beginning = beginningOf(text, leftBytes);
      const bytesInUse = Buffer.byteLength(beginning);
      isCut ||= beginning.length < text.length;
      if (beginning === '') return '';
      if (!copies.take(answerBytes({ logged: textBytesInMemory(beginning) }))) {
        [isCut, leftBytes] = [true, 0];
        return '';
      }
      bytes += bytesInUse;
      // No text is added after a cut.
      leftBytes = isCut ? 0 : leftBytes - bytesInUse;
      return beginning;
    },
    bytes: () => bytes,
    isCut: () => isCut,
  };
}

/** Cuts the text to the number of bytes, and never within a character. */
function beginningOf(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const beginning = Buffer.from(text.slice(0, maxBytes)).subarray(0, maxBytes);
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(beginning, { stream: true });
}
