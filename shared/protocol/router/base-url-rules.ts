// Lists all differences between the base URLs. Clients of `/openai/v1` are OpenAI's SDKs and the frameworks built on
// them, of which some cannot send a header; clients of the other base URLs are SDKs of one vendor.
import type { ErrorFormat } from '../../errors/index.ts';
import type { BasePath, VendorBasePath } from '../../foundation/constants/index.ts';

export interface BaseUrlRules {
  /** Format of errors if no header names another. */
  readonly errorFormat: ErrorFormat;
  /**
   * False if nothing follows the error line of a stream, because clients that skip unknown lines would interpret a
   * broken answer as complete.
   */
  readonly endsBrokenStreamWithDone: boolean;
  /** True if a streamed answer is checked against its schema at its end. Otherwise the request is refused. */
  readonly streamsSchemas: boolean;
  /** True if a truncated answer is returned to the client without a schema check. */
  readonly skipsTruncated: boolean;
  /** True if fields of a function call that have no effect are dropped, because frameworks always send them. */
  readonly dropsUnusedFields: boolean;
  /**
   * True if the usage chunk of a stream is the merged chunk, because its clients have no other way to request the cost.
   */
  readonly mergesUsageChunk: boolean;
  /** True if a malformed `traceparent` counts as absent. */
  readonly ignoresMalformedTraceparent: boolean;
}

const plainRules: BaseUrlRules = {
  errorFormat: 'gateway',
  endsBrokenStreamWithDone: true,
  streamsSchemas: false,
  skipsTruncated: false,
  dropsUnusedFields: false,
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
    dropsUnusedFields: true,
    mergesUsageChunk: true,
    ignoresMalformedTraceparent: true,
  },
};

interface RouteGroups<Group> {
  readonly api: Group;
  readonly v1Only: Group;
  readonly vendor: Readonly<Partial<Record<VendorBasePath, Group>>>;
}

/** Returns the routes below a base path. Paths of `/v1` alone come first, because the first of two matches counts. */
export function routesBelow<Group extends object>(base: BasePath, { api, v1Only, vendor }: RouteGroups<Group>) {
  if (base === '/v1') return { ...v1Only, ...api };
  return base === '/openai/v1' ? api : (vendor[base] ?? {});
}
