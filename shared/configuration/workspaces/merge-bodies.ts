// The shallow merge of contract 3. Members of the request replace those of the preset whole, with one exception: inside
// `provider` a data policy of the preset stays unless the request states that policy itself.
import { isJsonObject, outputBoundNames } from '../../protocol/wire/index.ts';

type Body = Readonly<Record<string, unknown>>;

/** Contract 3: null for a gateway member means absent. Elsewhere null is a value, and reaches the provider. */
const gatewayMembers = ['provider', 'models', 'cache', 'reasoning', 'usage'];
const policyMembers = ['zdr', 'data_collection', 'data_residency'];
/** Names of one setting: with two in the body, the preset's could override the request's. */
const sameSetting: readonly (readonly string[])[] = [outputBoundNames, ['reasoning', 'reasoning_effort']];

export function mergeBodies(preset: Body, request: Body): Record<string, unknown> {
  const defaults = withoutOverridden(preset, request);
  const merged: Record<string, unknown> = { ...defaults, ...request };
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
  const inherited = policyMembers.filter((name) => isAbsent(request[name]) && !isAbsent(preset[name]));
  return { ...request, ...Object.fromEntries(inherited.map((name) => [name, preset[name]])) };
}
