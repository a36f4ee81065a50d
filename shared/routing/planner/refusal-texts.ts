// Texts of refused plans: which policy or key is missing, and at which providers.
import type { Candidate } from '../../configuration/catalogue/index.ts';
import type { PolicyOptions } from '../../protocol/wire/index.ts';
import { satisfies } from './data-policy.ts';

const policyFields = ['zdr', 'data_collection', 'data_residency'] as const;
type PolicyField = (typeof policyFields)[number];

/** `zdr`, `data_collection deny`, `data_residency eu, us`. */
function policyText(name: PolicyField, policy: PolicyOptions): string {
  const value = policy[name];
  return value === true ? name : `${name} ${[value].flat().join(', ')}`;
}

export const providersOf = (candidates: readonly Candidate[]): string =>
  [...new Set(candidates.map(({ provider }) => provider.id))].join(', ');

/** Of candidates that all fail the policy: the fields that none declares, or all that apply where each is declared by some. */
export function undeclaredText(
  remaining: readonly Candidate[],
  requestPolicy: PolicyOptions,
  policy: PolicyOptions,
): string {
  const isAsked = (name: PolicyField) =>
    policy[name] !== undefined && policy[name] !== 'allow' && policy[name] !== false;
  const applied = policyFields.filter(isAsked);
  const missing = applied.filter(
    (name) => !remaining.some(({ provider }) => satisfies(provider.data_policy, { [name]: policy[name] })),
  );
  const named = missing.length > 0 ? missing : applied;
  const texts = named.map(
    (name) => `${policyText(name, policy)} (of the ${requestPolicy[name] === undefined ? 'workspace' : 'request'})`,
  );
  const are = texts.length === 1 ? 'is' : 'are';
  const together = missing.length > 0 ? '' : ' together';
  return `No provider satisfies the data policy: ${texts.join(' and ')} ${are} not declared${together} by ${providersOf(remaining)}.`;
}

/** `member`: as a request names it, `provider.zdr`. */
export function enforcedText(member: string, enforced: PolicyOptions): string {
  const name = policyFields.find((field) => member === `provider.${field}`);
  const what = name === undefined ? 'a data policy' : policyText(name, enforced);
  return `${member}: the workspace enforces ${what}.`;
}
