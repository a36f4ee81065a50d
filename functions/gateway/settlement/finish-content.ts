// The bodies that were gathered of a call, masked and within the bounds of their document.
import {
  type ContentDocument,
  contentMaxBytes,
  type UpstreamContent,
} from '../../../shared/accounting/content-log/index.ts';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import { beginningOf } from './content-space.ts';
import { maskContent, maskCutContent } from './mask-content.ts';

export interface TakenContent extends UpstreamContent {
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

/** A bound after the masking cuts no credential. */
export const finishContent = async (taken: Taken, masking: Masking): Promise<ContentDocument> =>
  withinBounds(await withoutSecrets(taken, masking));

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
  const blocked = document.blocked === undefined ? undefined : fitting({ body: document.blocked }).body;
  return { ...document, request, answer, sent, blocked, cut };
}

/** Masked in a few milliseconds. */
const longCharacters = 64 * 1024;

async function withoutSecrets(
  taken: Taken,
  { isRequestCut, isAnswerCut, isBlockedCut, secrets }: Masking,
): Promise<ContentDocument> {
  const clean = async (text: string, isCut: boolean): Promise<string> => {
    if (text.length > longCharacters) await nextTurn();
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
