// Serves GET /v1/manage/calls/{id}/content: the bodies of a call, if its workspace stores them. Each reading is logged.
import type { CallRecord } from '../../../shared/accounting/call-records/index.ts';
import { contentEndsAtMs, readContent } from '../../../shared/accounting/content-log/index.ts';
import { findCall } from '../../../shared/accounting/reports/index.ts';
import type { Documents } from '../../../shared/configuration/management/index.ts';
import { fail } from '../../../shared/errors/index.ts';
import { instantOf } from '../../../shared/foundation/time/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import type { ManagementDependencies } from '../dependencies.ts';
import type { RouteWork } from '../request/manage.ts';
import { readSeenCall } from './serve-calls.ts';

export const showContent: RouteWork<'GET /calls/{id}/content'> = async (
  deps,
  { operator, names: { id }, tellChange },
) => {
  const call = await readSeenCall(deps, operator, id);
  if (!operator.rights.readsContent(call.workspace)) {
    throw fail('forbidden', {
      message: `This needs the role owner in the workspace ${call.workspace}, or editor with content: true.`,
    });
  }
  const data = await contentOf(deps, call);
  tellChange('content read', `${call.workspace}/${call.executionId}`);
  return { data };
};

/** Returns the bodies. Throws not_found if none are stored. */
export async function contentOf(
  deps: Pick<ManagementDependencies, 'records' | 'blobs' | 'clock'>,
  call: CallRecord,
): Promise<Documents['ManagedContent']> {
  const record = call.replayOf === undefined ? call : await firstCallOf(deps, call, call.replayOf);
  const document =
    record &&
    (await readContent(deps.blobs, record, deps.clock.nowMs()).catch((cause: unknown) => {
      throw new StoreUnavailable(cause);
    }));
  if (record === undefined || document === undefined) throw fail('not_found', { message: whyNone(call, record) });
  const { id, cut, request, answer, sent, blocked = null } = document;
  const { interfaceId, stream } = record;
  const endsAtMs = contentEndsAtMs(record) ?? null;
  return bounded({
    id,
    interface: interfaceId ?? 'chat-completions',
    stream,
    cut,
    expires_at: instantOf(endsAtMs),
    request,
    answer,
    sent: [...sent],
    blocked,
  });
}

/** Returns the call whose answer a replay repeated, because only that call has the bodies. */
const firstCallOf = ({ records }: Pick<ManagementDependencies, 'records'>, { workspace }: CallRecord, id: string) =>
  findCall({ records, workspaces: [workspace], sinceMs: 0, beforeMs: 0 }, id);

function whyNone(call: CallRecord, record: CallRecord | undefined): string {
  const content = record?.content;
  if (content?.state === 'failed') return 'The bodies of this call could not be stored: the log says why.';
  if (content !== undefined) return `The bodies of this call were kept for ${content.keep}, and that is over.`;
  return call.replayOf === undefined
    ? 'No bodies of this call are kept: its workspace keeps none, it demanded zdr, it was refused, or its share left it out.'
    : 'No bodies are kept of the call whose answer this one got.';
}

/** Maximum bytes of an answer, as JSON in JSON, below the 6 MB that Lambda allows. */
const writtenMaxBytes = 5_000_000;

function bounded(content: Documents['ManagedContent']): Documents['ManagedContent'] {
  let leftBytes = writtenMaxBytes;
  let cut = false;
  const take = (text: string): string => {
    let shortened = text;
    // Each round removes the excess, so two rounds are usually enough.
    for (let bytes = writtenBytes(shortened); bytes > leftBytes; bytes = writtenBytes(shortened)) {
      shortened = shortened.slice(0, Math.floor(shortened.length * (leftBytes / bytes) * shorterBy));
      cut = true;
    }
    leftBytes -= writtenBytes(shortened);
    return shortened;
  };
  const request = take(content.request);
  const answer = content.answer && { ...content.answer, body: take(content.answer.body) };
  const sentBodies = content.sent.map((one) => ({ ...one, body: take(one.body) }));
  const blocked = content.blocked && take(content.blocked);
  return { ...content, request, answer, sent: sentBodies, blocked, cut: content.cut || cut };
}

const shorterBy = 0.98;
const writtenBytes = (text: string): number =>
  text === '' ? 0 : Buffer.byteLength(JSON.stringify(JSON.stringify(text)));
