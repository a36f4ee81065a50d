// Makes strict tools fit their target. If the provider's subset of JSON Schema does not allow a tool's schema, that
// tool is sent without `strict`.
import type { HubCall } from './hub-call.ts';

export interface Strictness {
  readonly holds: (schema: unknown) => boolean;
  /** Maximum strict tools of a request. The provider refuses more tools. */
  readonly toolsMax: number;
  /** Returns the number of properties that are not required; the sum over all tools is limited. */
  readonly optionalOf: (schema: unknown) => number;
  readonly optionalMax: number;
}

/** Path in the header `X-Gw-Left-Out`. */
export const strictPath = 'tools.strict';

export function withStrictness(
  call: HubCall,
  strictness: Strictness | undefined,
): { readonly call: HubCall; readonly leftOut: readonly string[] } {
  const { tools } = call;
  if (strictness === undefined || tools === undefined) return { call, leftOut: [] };
  let strict = 0;
  let optional = 0;
  let isLeftOut = false;
  const plain = tools.map((tool) => {
    if (tool.type !== 'function' || tool.strict !== true) return tool;
    if (strict < strictness.toolsMax && strictness.holds(tool.inputSchema)) {
      const more = strictness.optionalOf(tool.inputSchema);
      if (optional + more <= strictness.optionalMax) {
        strict += 1;
        optional += more;
        return tool;
      }
    }
    isLeftOut = true;
    return { ...tool, strict: false };
  });
  return isLeftOut ? { call: { ...call, tools: plain }, leftOut: [strictPath] } : { call, leftOut: [] };
}
