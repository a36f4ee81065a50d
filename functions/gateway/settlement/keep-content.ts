// Keeps the bodies of one call: as its client sent and got them, and as providers got them where that differs. Gathered
// while the call runs, and written after the answer. Nothing of the call waits for it, and it never fails one.
import { type ContentDocument, contentMaxBytes, writeContent } from '../../../shared/accounting/content-log/index.ts';
import { effectiveContentLog, readKeySetting } from '../../../shared/configuration/keys/index.ts';
import type { ContentKeep } from '../../../shared/foundation/constants/index.ts';
import { sha256Hex } from '../../../shared/foundation/ids/index.ts';
import { nextTurn, waitAtMost } from '../../../shared/foundation/time/index.ts';
import type { GatewayResponse } from '../../../shared/protocol/http/index.ts';
import type { ClientRequest } from '../../../shared/protocol/interfaces/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { CallContent, IdentifiedCall } from '../stages.ts';
import { openSpace } from './content-space.ts';
import { finishContent, type TakenContent } from './finish-content.ts';
import { keepsProviderText, type PolicedCall } from './log-attempts.ts';
import { watchAnswer } from './watch-answer.ts';

type Dependencies = Pick<GatewayDependencies, 'memory' | 'blobs' | 'clock' | 'log'>;
export type ContentCall = Pick<IdentifiedCall, 'key' | 'scope' | 'byokKey' | 'workspace'> & PolicedCall;

/** The record of the call waits for the storage: a slower one loses the bodies. */
const writeMaxMs = 3_000;
/** Left of a settlement's time for the record. */
const recordMs = 1_000;

export interface ContentOptions {
  /** As its client sent it. */
  readonly clientRequest: ClientRequest;
  /** How the client gets an error. */
  readonly errorAnswer: (error: unknown) => GatewayResponse;
}

/** Undefined where nothing of this call is kept. */
export function openContent(
  deps: Dependencies,
  call: ContentCall,
  { clientRequest, errorAnswer }: ContentOptions,
): CallContent | undefined {
  const { workspace, byokKey } = call;
  const { correlationId: id } = call.scope;
  const settings = effectiveContentLog(workspace.content_log, readKeySetting(call.key, 'contentLog'));
  if (settings === undefined || !keepsProviderText(call) || !isInShare(id, settings.share)) return undefined;
  const { keep } = settings;
  const copies = deps.memory.openCopies();
  const ofClient = openSpace(copies, contentMaxBytes);
  const request = ofClient.take(clientRequest.text().text);
  const isRequestCut = ofClient.isCut();
  const ofProviders = openSpace(copies, contentMaxBytes - ofClient.bytes());
  const secrets = new Set(byokKey === undefined ? [] : [byokKey]);
  const sent: TakenContent[] = [];
  let blocked: string | undefined;
  let isBlockedCut = false;
  const answer = watchAnswer((text) => ofClient.take(text));

  const gather = async (): Promise<ContentDocument> => {
    const cut = ofClient.isCut() || ofProviders.isCut();
    const taken = { id, workspace: workspace.id, cut, request, answer: answer.gathered(), sent, blocked };
    const cuts = { isRequestCut, isAnswerCut: ofClient.isCut(), isBlockedCut, secrets };
    return await finishContent(taken, cuts);
  };

  async function write(limitMs: number): Promise<boolean> {
    const document = await gather();
    await writeInTime(deps, { keep, document, limitMs });
    return document.cut;
  }

  return {
    sent({ secrets: used, ...one }, isLogged) {
      for (const secret of used) secrets.add(secret);
      const body = isLogged ? ofProviders.take(one.body) : '';
      if (body !== '') sent.push({ ...one, body, isCut: body.length < one.body.length });
    },
    blocked(text) {
      const beginning = ofProviders.take(text);
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

/** By a hash of the id: every process decides alike. */
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
