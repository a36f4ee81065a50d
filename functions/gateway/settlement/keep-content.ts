// Keeps the bodies of one call: as its client sent and got them, and as providers got them where that differs. Gathered
// while the call runs, and written after the answer. Nothing of the call waits for it, and it never fails one.
import {
  type ContentDocument,
  contentMaxBytes,
  type UpstreamContent,
  writeContent,
} from '../../../shared/accounting/content-log/index.ts';
import { effectiveContentLog, readKeySetting } from '../../../shared/configuration/keys/index.ts';
import type { ContentKeep } from '../../../shared/foundation/constants/index.ts';
import { sha256Hex } from '../../../shared/foundation/ids/index.ts';
import { nextTurn, waitAtMost } from '../../../shared/foundation/time/index.ts';
import type { BodyPart, GatewayResponse } from '../../../shared/protocol/http/index.ts';
import type { ClientRequest } from '../../../shared/protocol/interfaces/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { CallContent, IdentifiedCall } from '../stages.ts';
import { beginningOf, openSpace } from './content-space.ts';
import { keepsProviderText, type PolicedCall } from './log-attempts.ts';
import { maskContent, maskCutContent } from './mask-content.ts';

type Dependencies = Pick<GatewayDependencies, 'memory' | 'blobs' | 'clock' | 'log'>;
export type ContentCall = Pick<IdentifiedCall, 'key' | 'scope' | 'byokKey' | 'workspace'> & PolicedCall;

/** Bodies that wait for their storage count as those of one key, which leaves memory for calls while it hangs. */
const memoryKey = 'content log';
/** The record of the call waits for the storage: a slower one loses the bodies. */
const writeMaxMs = 3_000;
/** Left of a settlement's time for the record. */
const recordMs = 1_000;

export interface ContentOptions {
  /** As its client sent it. */
  readonly asked: ClientRequest;
  /** How the client gets an error. */
  readonly errorAnswer: (error: unknown) => GatewayResponse;
}

/** Undefined where nothing of this call is kept. */
export function openContent(
  deps: Dependencies,
  call: ContentCall,
  { asked, errorAnswer }: ContentOptions,
): CallContent | undefined {
  const { workspace, byokKey } = call;
  const { correlationId: id } = call.scope;
  const settings = effectiveContentLog(workspace.content_log, readKeySetting(call.key, 'contentLog'));
  if (settings === undefined || !keepsProviderText(call) || !isInShare(id, settings.share)) return undefined;
  const { keep } = settings;
  const memory = deps.memory.open();
  memory.nameKey(memoryKey);
  const ofClient = openSpace(memory, contentMaxBytes);
  const request = ofClient.take(asked.text().text);
  const isRequestCut = ofClient.isCut();
  const ofProviders = openSpace(memory, contentMaxBytes - ofClient.bytes());
  const secrets = new Set(byokKey === undefined ? [] : [byokKey]);
  const sent: TakenContent[] = [];
  const answer = watchAnswer((text) => ofClient.take(text));

  const gather = async (): Promise<ContentDocument> => {
    const cut = ofClient.isCut() || ofProviders.isCut();
    const taken = { id, workspace: workspace.id, cut, request, answer: answer.gathered(), sent };
    const cuts = { isRequestCut, isAnswerCut: ofClient.isCut(), secrets };
    // A bound after the masking cuts no credential.
    return withinBounds(await withoutSecrets(taken, cuts));
  };

  async function write(limitMs: number): Promise<boolean> {
    // The document repeats the parts as one text.
    await memory.reserve(ofClient.bytes() + ofProviders.bytes());
    const document = await gather();
    await writeInTime(deps, { keep, document, limitMs });
    return document.cut;
  }

  return {
    sent({ secrets: used, ...one }, isKept) {
      for (const secret of used) secrets.add(secret);
      const body = isKept ? ofProviders.take(one.body) : '';
      if (body !== '') sent.push({ ...one, body, isCut: body.length < one.body.length });
    },
    async watch(answering) {
      try {
        return answer.watched(await answering);
      } catch (error) {
        answer.watched(errorAnswer(error));
        throw error;
      }
    },
    said: gather,
    async write(deadline) {
      try {
        const limitMs = Math.max(0, Math.min(writeMaxMs, deadline.remainingMs() - recordMs));
        return { state: 'kept', keep, cut: await write(limitMs) };
      } catch (error) {
        deps.log.error({ event: 'content_not_kept', correlation_id: id, workspace_id: workspace.id }, error);
        return { state: 'failed', keep, cut: false };
      } finally {
        memory.end();
      }
    },
  };
}

const hashDigits = 8;

/** By a hash of the id: every process decides alike. */
const isInShare = (id: string, share: number): boolean =>
  share >= 1 || Number.parseInt(sha256Hex(id).slice(0, hashDigits), 16) < share * 16 ** hashDigits;

/** Gathers what goes to the client. `take`: the part of a text that is kept. */
function watchAnswer(take: (text: string) => string) {
  const parts: string[] = [];
  let status: number | undefined;
  const add = (text: string) => void parts.push(take(text));
  return {
    gathered: () => (status === undefined ? null : { status, body: parts.join('') }),
    watched(response: GatewayResponse): GatewayResponse {
      ({ status } = response);
      const { body, closeBroken } = response;
      if (typeof body === 'string') {
        add(body);
        return response;
      }
      const closing = (why: 'failed' | 'over_time'): string => {
        const end = closeBroken?.(why) ?? '';
        add(end);
        return end;
      };
      return { ...response, body: watchedParts(body, add), ...(closeBroken && { closeBroken: closing }) };
    },
  };
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

/** The client's own bodies come first. */
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
  const sent = document.sent.map(fitting);
  return { ...document, request, answer, sent, cut };
}

interface TakenContent extends UpstreamContent {
  readonly isCut: boolean;
}

interface Taken extends ContentDocument {
  readonly sent: readonly TakenContent[];
}

interface Masking {
  readonly isRequestCut: boolean;
  readonly isAnswerCut: boolean;
  readonly secrets: ReadonlySet<string>;
}

/** Masked in a few milliseconds. */
const longCharacters = 64 * 1024;

async function withoutSecrets(taken: Taken, { isRequestCut, isAnswerCut, secrets }: Masking): Promise<ContentDocument> {
  const clean = async (text: string, isCut: boolean): Promise<string> => {
    if (text.length > longCharacters) await nextTurn();
    return (isCut ? maskCutContent : maskContent)(text, secrets);
  };
  const { request, answer, sent } = taken;
  return {
    ...taken,
    request: await clean(request, isRequestCut),
    answer: answer && { ...answer, body: await clean(answer.body, isAnswerCut) },
    sent: await Promise.all(sent.map(async ({ isCut, ...one }) => ({ ...one, body: await clean(one.body, isCut) }))),
  };
}

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
