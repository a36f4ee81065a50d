import type { PolicyOptions } from '../../protocol/wire/index.ts';
import type { DeclaredPolicy } from '../catalogue/index.ts';

/** What satisfies both policies and nothing more. Regions that have nothing in common leave none: nobody may serve. */
export const strictest = (enforced: DeclaredPolicy, added: PolicyOptions): DeclaredPolicy => ({
  zdr: added.zdr === true ? true : enforced.zdr,
  data_collection: added.data_collection === 'deny' ? 'deny' : enforced.data_collection,
  data_residency: commonRegions(enforced.data_residency, added.data_residency),
});

function commonRegions(enforced: string[] | undefined, added: readonly string[] | undefined): string[] | undefined {
  if (added === undefined) return enforced;
  return enforced === undefined ? [...added] : enforced.filter((region) => added.includes(region));
}
