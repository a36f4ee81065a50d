// All differences between the base URLs. Clients of `/openai/v1` are OpenAI's SDKs and the frameworks built on them, which
// cannot all send a header; below the others they are SDKs of one vendor.
import type { ErrorFormat } from '../../errors/index.ts';
import type { BasePath, VendorBasePath } from '../../foundation/constants/index.ts';

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

const plainRules: BaseUrlRules = {
  errorFormat: 'gateway',
  endsBrokenStreamWithDone: true,
  streamsSchemas: false,
  skipsTruncated: false,
  dropsIdleMembers: false,
  mergesUsageChunk: false,
  ignoresMalformedTraceparent: false,
};

export const baseUrlRulesOf: Readonly<Record<BasePath, BaseUrlRules>> = {
  '/v1': plainRules,
  '/v1beta': { ...plainRules, errorFormat: 'google' },
  '/bedrock': { ...plainRules, errorFormat: 'aws' },
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

interface RouteGroups<Group> {
  readonly api: Group;
  readonly v1Only: Group;
  readonly vendor: Readonly<Partial<Record<VendorBasePath, Group>>>;
}

/** Paths of `/v1` alone come first: of two matches the first counts. */
export function routesBelow<Group extends object>(base: BasePath, { api, v1Only, vendor }: RouteGroups<Group>) {
  if (base === '/v1') return { ...v1Only, ...api };
  return base === '/openai/v1' ? api : (vendor[base] ?? {});
}
