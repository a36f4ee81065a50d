// The type of a stream: of events, or of bytes.

import { streamHeaders } from '../../../shared/protocol/router/index.ts';
import type { AnswerEvent } from '../../../shared/protocol/wire/index.ts';

/** By its first piece; undefined for events. */
export const bytesTypeOf = (events: readonly AnswerEvent[]): string | undefined => events[0]?.details.contentType;

export const streamHeadersOf = (bytesType: string | undefined): Readonly<Record<string, string>> =>
  bytesType === undefined ? streamHeaders : { ...streamHeaders, 'content-type': bytesType };
