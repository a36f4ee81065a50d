// The merge of a preset and a request. Members of the request replace those of the preset whole, but `provider` is merged
// member by member: a request that sorts does not drop the providers or the policies that the preset names.
import { gatewayMembers, outputBoundNames } from '../../protocol/interfaces/chat-completions/index.ts';
import { isJsonObject } from '../../protocol/wire/index.ts';

type Body = Readonly<Record<string, unknown>>;

/** Names of one setting: with two in the body, the preset's could override the request's. */
const sameSetting: readonly (readonly string[])[] = [outputBoundNames, ['reasoning', 'reasoning_effort']];

export function mergeBodies(preset: Body, request: Body): Record<string, unknown> {
  const defaults = withoutOverridden(preset, request);
  const merged: Record<string, unknown> = { ...defaults, ...request };
  // Null for a member of the gateway means absent. Elsewhere null is a value, and reaches the provider.
  for (const name of gatewayMembers) {
    if (isAbsent(request[name]) && Object.hasOwn(defaults, name)) merged[name] = defaults[name];
  }
  if (!isAbsent(request.provider)) merged.provider = mergeProvider(preset.provider, request.provider);
  delete merged.preset;
  return merged;
}

const isAbsent = (value: unknown): boolean => value === null || value === undefined;

function withoutOverridden(preset: Body, request: Body): Body {
  const kept = { ...preset };
  for (const names of sameSetting) {
    if (names.every((name) => isAbsent(request[name]))) continue;
    for (const name of names) delete kept[name];
  }
  return kept;
}

function mergeProvider(preset: unknown, request: unknown): unknown {
  if (!isJsonObject(preset) || !isJsonObject(request)) return request;
  const stated = Object.entries(request).filter(([, value]) => !isAbsent(value));
  return { ...preset, ...Object.fromEntries(stated) };
}
