// Data policies (spec 2.2, contract 3): what a workspace enforces, what a request adds, what a provider declares.
import type { DeclaredPolicy } from '../../configuration/catalogue/index.ts';
import type { PolicyOptions } from '../../protocol/wire/index.ts';

/** True where the request asks for less than the workspace enforces. Absent members ask for nothing. */
export function loosens(asked: PolicyOptions, enforced: PolicyOptions): boolean {
  if (enforced.zdr === true && asked.zdr === false) return true;
  if (enforced.data_collection === 'deny' && asked.data_collection === 'allow') return true;
  const regions = enforced.data_residency;
  return regions !== undefined && (asked.data_residency ?? []).some((region) => !regions.includes(region));
}

/** What binds in the end: the stricter of both, member by member. Only for requests that loosen nothing. */
export const tighten = (asked: PolicyOptions, enforced: PolicyOptions): PolicyOptions => ({
  zdr: enforced.zdr === true || asked.zdr,
  data_collection: enforced.data_collection === 'deny' ? 'deny' : asked.data_collection,
  // What is asked lies within what is enforced, so it is the narrower of the two.
  data_residency: asked.data_residency ?? enforced.data_residency,
});

/** A policy that a provider does not declare counts as not satisfied (spec 2.2). */
export function satisfies(declared: DeclaredPolicy, policy: PolicyOptions): boolean {
  if (policy.zdr === true && declared.zdr !== true) return false;
  if (policy.data_collection === 'deny' && declared.data_collection !== 'deny') return false;
  const allowed = policy.data_residency;
  if (allowed === undefined) return true;
  const regions = declared.data_residency ?? [];
  return regions.length > 0 && regions.every((region) => allowed.includes(region));
}
