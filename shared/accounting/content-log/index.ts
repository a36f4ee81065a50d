// Stores the bodies of one call as one compressed JSON document, under the id of the call. The call's record shows
// whether the document exists.
import { contentPrefixOf, daysOf } from '../../foundation/constants/index.ts';
import { dayMs } from '../../foundation/time/index.ts';
import { type BlobCallOptions, type BlobStore, packText, unpackText } from '../../storage/blobs/index.ts';
import type { CallRecord, ContentPlace } from '../call-records/index.ts';

/** Bound of all bodies of a call together; the rest is cut off. */
export const contentMaxBytes = 4 * 1024 * 1024;

/** A body as a provider got it, if it is not the client's own. */
export interface UpstreamContent {
  readonly provider: string;
  readonly model: string;
  /** Interface of the provider. */
  readonly format: string;
  readonly body: string;
}

export interface ContentDocument {
  readonly id: string;
  readonly workspace: string;
  /** True if the rest of a body is missing. */
  readonly cut: boolean;
  readonly request: string;
  /** JSON, or the transcript of a stream, as far as the client got it. Null if the client left before. */
  readonly answer: { readonly status: number; readonly body: string } | null;
  readonly sent: readonly UpstreamContent[];
  /** The part of the answer that a guardrail blocked, as its provider gave it. */
  readonly blocked?: string | undefined;
}

const nameOf = (keep: ContentPlace['keep'], id: string): string => contentPrefixOf(keep) + id;

/** Writes the bodies. Rejects if the storage does not accept them. */
export async function writeContent(
  blobs: Pick<BlobStore, 'put'>,
  keep: ContentPlace['keep'],
  document: ContentDocument,
  options: BlobCallOptions,
): Promise<void> {
  const { bytes } = await packText(JSON.stringify(document));
  await blobs.put(nameOf(keep, document.id), bytes, options);
}

type RecordedContent = Pick<CallRecord, 'executionId' | 'workspace' | 'arrivedAtMs' | 'content'>;

/** Returns the time at which the bodies of a call are deleted; undefined if none are stored. */
export const contentEndsAtMs = ({ content, arrivedAtMs }: RecordedContent): number | undefined =>
  content === undefined || content.state === 'failed' ? undefined : arrivedAtMs + daysOf(content.keep) * dayMs;

/** Reads the bodies. Undefined if none were stored, or if they have expired but are not yet deleted. */
export async function readContent(
  blobs: Pick<BlobStore, 'get'>,
  record: RecordedContent,
  nowMs: number,
): Promise<ContentDocument | undefined> {
  const { content, executionId, workspace } = record;
  const endsAtMs = contentEndsAtMs(record);
  if (content === undefined || endsAtMs === undefined || endsAtMs <= nowMs) return undefined;
  const bytes = await blobs.get(nameOf(content.keep, executionId));
  const text = bytes && (await unpackText({ bytes }));
  const document: ContentDocument | undefined = text === undefined ? undefined : JSON.parse(text);
  return document?.workspace === workspace ? document : undefined;
}
