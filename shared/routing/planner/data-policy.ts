// Checks data policies: enforced by a workspace, added by a request, declared by a provider.
import type { DeclaredPolicy } from '../../configuration/catalogue/index.ts';
import type { PolicyOptions } from '../../protocol/wire/index.ts';

/** Returns the field by which a request demands less than the workspace enforces. Absent fields demand nothing. */
export function looseningMember(requestPolicy: PolicyOptions, enforced: PolicyOptions): string | undefined {
  if (enforced.zdr === true && requestPolicy.zdr === false) return 'provider.zdr';
  if (enforced.data_collection === 'deny' && requestPolicy.data_collection === 'allow')
    return 'provider.data_collection';
  const regions = enforced.data_residency;
  const isWider =
    regions !== undefined && (requestPolicy.data_residency ?? []).some((region) => !regions.includes(region));
  return isWider ? 'provider.data_residency' : undefined;
}

/**
 * Returns the field of the request that excludes these providers; undefined if the workspace's policy alone excludes
 * them.
 */
export function excludingMember(
  declared: readonly DeclaredPolicy[],
  requestPolicy: PolicyOptions,
  enforced: PolicyOptions,
): string | undefined {
  const remaining = declared.filter((one) => satisfies(one, enforced));
  const names = (['zdr', 'data_collection', 'data_residency'] as const).filter(
    (name) => requestPolicy[name] !== undefined,
  );
  const excludes = (name: keyof PolicyOptions) =>
    !remaining.some((one) => satisfies(one, { [name]: requestPolicy[name] }));
  const name = remaining.length === 0 ? undefined : (names.find(excludes) ?? names[0]);
  return name && `provider.${name}`;
}

/**
 * Returns the policy that applies: the stricter of both, field by field. Call it only for requests that loosen nothing.
 */
export const tighten = (requestPolicy: PolicyOptions, enforced: PolicyOptions): PolicyOptions => ({
  zdr: enforced.zdr === true || requestPolicy.zdr,
  data_collection: enforced.data_collection === 'deny' ? 'deny' : requestPolicy.data_collection,
  // The request's choice is within the enforced choice, so it is the narrower of the two.
  data_residency: requestPolicy.data_residency ?? enforced.data_residency,
});

/** True if the provider satisfies the policy. A policy that it does not declare counts as not satisfied. */
export function satisfies(declared: DeclaredPolicy, policy: PolicyOptions): boolean {
  if (policy.zdr === true && declared.zdr !== true) return false;
  if (policy.data_collection === 'deny' && declared.data_collection !== 'deny') return false;
  const allowed = policy.data_residency;
  if (allowed === undefined) return true;
  const regions = declared.data_residency ?? [];
  return regions.length > 0 && regions.every((region) => allowed.includes(region));
}
