// All differences between the two base URLs. Clients of the second one are OpenAI's SDKs and the frameworks built on
// them, which cannot all send a header.
import type { ErrorFormat } from '../../errors/index.ts';
import type { BasePath } from '../../foundation/constants/index.ts';

export interface BaseUrlRules {
  /** Form of errors where no header names another. */
  readonly errorFormat: ErrorFormat;
  /** False: nothing follows the error line of a stream. Clients that skip lines they do not know took a broken answer for a whole one. */
  readonly endsBrokenStreamWithDone: boolean;
  /** Whether a streamed answer is checked against its schema at its end. Otherwise such a request is refused. */
  readonly streamsSchemas: boolean;
  /** Whether a truncated answer is returned to the client without a schema check. */
  readonly skipsTruncated: boolean;
  /** Members of a function call that ask for nothing are dropped: frameworks always send them. */
  readonly dropsIdleMembers: boolean;
  /** The usage chunk of a stream is the merged one: its clients know no other way to ask for the cost. */
  readonly mergesUsageChunk: boolean;
  /** A `traceparent` that is malformed counts as absent. */
  readonly ignoresMalformedTraceparent: boolean;
}

export const baseUrlRulesOf: Readonly<Record<BasePath, BaseUrlRules>> = {
  '/v1': {
    errorFormat: 'gateway',
    endsBrokenStreamWithDone: true,
    streamsSchemas: false,
    skipsTruncated: false,
    dropsIdleMembers: false,
    mergesUsageChunk: false,
    ignoresMalformedTraceparent: false,
  },
  '/openai/v1': {
    errorFormat: 'openai',
    endsBrokenStreamWithDone: false,
    streamsSchemas: true,
    skipsTruncated: true,
    dropsIdleMembers: true,
    mergesUsageChunk: true,
    ignoresMalformedTraceparent: true,
  },
};
