// The type of a stream: of events, or of bytes.

import { streamHeaders } from '../../../shared/protocol/router/index.ts';
import type { AnswerEvent } from '../../../shared/protocol/wire/index.ts';

/** By its first piece; undefined for events. */
export const bytesTypeOf = (events: readonly AnswerEvent[]): string | undefined => events[0]?.details.contentType;

/** `type`: of a stream that is not of server-sent events. */
export const streamHeadersOf = (type: string | undefined): Readonly<Record<string, string>> =>
  type === undefined ? streamHeaders : { ...streamHeaders, 'content-type': type };
