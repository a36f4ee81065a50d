// Determines whether a stream consists of events or of bytes.

import { streamHeaders } from '../../../shared/protocol/router/index.ts';
import type { AnswerEvent } from '../../../shared/protocol/wire/index.ts';

/** Returns the media type of a stream of bytes, from its first piece; undefined for events. */
export const bytesTypeOf = (events: readonly AnswerEvent[]): string | undefined => events[0]?.details.contentType;

/** Returns the headers of a stream. `type` is the media type of a stream of bytes. */
export const streamHeadersOf = (type: string | undefined): Readonly<Record<string, string>> =>
  type === undefined ? streamHeaders : { ...streamHeaders, 'content-type': type };
