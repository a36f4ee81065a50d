// What a key may be used for, and until when (contract 16), as options of `keys create` and `keys update`.
import type { KeyRecord } from '../../../shared/configuration/keys/index.ts';
import { readChoice, readDuration, readOrNone, UsageError } from '../args/option-values.ts';
import type { Session } from '../args/session.ts';
import type { Stores } from '../target/stores.ts';

export interface KeyRuleOptions {
  readonly expires?: Expiry | 'none';
  /** Model ids. */
  readonly models?: readonly string[] | 'all';
  readonly spendLimitReset?: Reset | 'none';
}

type Reset = NonNullable<KeyRecord['spendLimitReset']>;
type Expiry = { readonly inMs: number } | { readonly atMs: number };

export const expiresForm = '2027-01-01, 2027-01-01T12:00:00Z, or a length of time such as 90d';
const instantShape = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

export const readExpires = readOrNone((name: string, text: string): Expiry => {
  const inMs = readDuration(text);
  if (inMs !== undefined) return { inMs };
  const atMs = instantShape.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(atMs)) throw new UsageError(`${name} is ${expiresForm}`);
  return { atMs };
});

export const readReset = readChoice(['daily', 'weekly', 'monthly', 'none'] as const satisfies readonly (
  | Reset
  | 'none'
)[]);

export function readModels(name: string, text: string): readonly string[] | 'all' {
  if (text === 'all') return 'all';
  const ids = text.split(',').map((id) => id.trim());
  if (ids.includes('')) throw new UsageError(`${name} is all, or ids of models with commas between them`);
  return ids;
}

/** Throws for an expiry that is over and for a model that is not in the catalogue. */
export async function toKeyRules(
  { clock }: Session,
  { catalogues }: Pick<Stores, 'catalogues'>,
  { expires, models, spendLimitReset }: KeyRuleOptions,
): Promise<Partial<Pick<KeyRecord, 'expiresAtMs' | 'models' | 'spendLimitReset'>>> {
  const nowMs = clock.nowMs();
  const expiresAtMs = toExpiry(expires, nowMs);
  if (typeof expiresAtMs === 'number' && expiresAtMs <= nowMs) {
    throw new UsageError('--expires is not in the future; keys revoke ends a key now');
  }
  if (Array.isArray(models)) await checkModels(catalogues, models);
  return {
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
    ...(models === undefined ? {} : { models: models === 'all' ? null : models }),
    ...(spendLimitReset === undefined ? {} : { spendLimitReset: spendLimitReset === 'none' ? null : spendLimitReset }),
  };
}

function toExpiry(expires: Expiry | 'none' | undefined, nowMs: number): number | null | undefined {
  if (expires === undefined || expires === 'none') return expires === undefined ? undefined : null;
  return 'inMs' in expires ? nowMs + expires.inMs : expires.atMs;
}

async function checkModels(catalogues: Stores['catalogues'], ids: readonly string[]): Promise<void> {
  const catalogue = await catalogues.read();
  const known = new Set(catalogue?.models.map(({ id }) => id));
  const unknown = ids.find((id) => !known.has(id));
  if (unknown !== undefined) throw new Error(`there is no model ${unknown} in the catalogue`);
}
