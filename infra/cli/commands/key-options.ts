// What a key may be used for, and until when, as options of `keys create`, `keys rotate` and `keys update`.

import { spendLimitResets } from '../../../shared/accounting/holds/index.ts';
import type { KeyChanges } from '../../../shared/configuration/administration/index.ts';
import { isKeyExpired } from '../../../shared/configuration/keys/index.ts';
import { formatUsd, type PicoUsd } from '../../../shared/foundation/money/index.ts';
import { type Tags, tagsMax } from '../../../shared/protocol/wire/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import {
  readChoice,
  readMoreTags,
  readOrNone,
  readPositiveInteger,
  readTime,
  readUsd,
  UsageError,
} from '../args/option-values.ts';
import type { Session } from '../args/session.ts';

/** What is left out stays, or has its default. */
export interface KeyOptions {
  readonly name?: string;
  readonly rpm?: number | 'none';
  readonly concurrency?: number | 'none';
  readonly spendLimit?: PicoUsd | 'none';
  readonly spendLimitReset?: NonNullable<KeyChanges['spendLimitReset']> | 'none';
  readonly expires?: Expiry | 'none';
  /** Model ids. */
  readonly models?: readonly string[] | 'all';
  readonly tag?: Tags | 'none';
}

type Expiry = { readonly inMs: number } | { readonly atMs: number };

export const expiresForm = '2027-01-01, 2027-01-01T12:00:00Z, or a length of time such as 90d';
const instantShape = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

export const readExpires = readOrNone((name: string, text: string): Expiry => {
  const inMs = readTime(text);
  if (inMs !== undefined) return { inMs };
  const atMs = instantShape.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(atMs)) throw new UsageError(`${name} is ${expiresForm}`);
  return { atMs };
});

export const readReset = readChoice([...spendLimitResets, 'none'] as const);

export function readModels(name: string, text: string): string[] | 'all' {
  if (text === 'all') return 'all';
  const ids = text.split(',').map((id) => id.trim());
  if (ids.includes('')) throw new UsageError(`${name} is all, or ids of models with commas between them`);
  return ids;
}

/** `none` stands alone: it takes away those that are stored. */
function readKeyTags(name: string, text: string, former: unknown): Tags | 'none' {
  if (text === 'none' && former === undefined) return text;
  if (former === 'none') throw new UsageError(`${name} is none, or tags`);
  const tags = readMoreTags(name, text, former);
  if (Object.keys(tags).length <= tagsMax) return tags;
  throw new UsageError(`${name} gives a key at most ${tagsMax} tags`);
}

/** `absent`: how a line says that there is no such limit or rule. */
export function keyOptions(command: CommandLine, absent: 'left out' | 'none'): CommandLine {
  const orNone = absent === 'none' ? readOrNone : <Value>(read: (name: string, text: string) => Value) => read;
  return command
    .takesOption('--rpm <N>', `requests per minute; ${absent}: no limit`, orNone(readPositiveInteger))
    .takesOption(
      '--concurrency <N>',
      `calls in flight; ${absent}: the default of the service`,
      orNone(readPositiveInteger),
    )
    .takesOption('--spend-limit <USD>', `what the key may spend; ${absent}: no limit`, orNone(readUsd))
    .takesOption(
      '--spend-limit-reset <P>',
      `daily, weekly or monthly (UTC): spending starts again; ${absent}: never`,
      readReset,
    )
    .takesOption('--expires <WHEN>', `${expiresForm}; ${absent}: never`, readExpires)
    .takesOption(
      '--models <IDS>',
      `ids with commas between them; ${absent === 'none' ? 'all' : absent}: all of the workspace`,
      readModels,
    )
    .takesRepeatedOption(
      '--tag <NAME=VALUE>',
      `on each of its calls; may be repeated; ${absent}: no tags`,
      readKeyTags,
    );
}

export const toKeyChanges = (session: Session, options: KeyOptions): KeyChanges => ({
  name: options.name,
  rpm: orNull(options.rpm),
  concurrency: orNull(options.concurrency),
  spendLimitUsd: options.spendLimit === undefined ? undefined : formatUsd(orNull(options.spendLimit) ?? null),
  spendLimitReset: orNull(options.spendLimitReset),
  expiresAtMs: toExpiry(session, options.expires),
  models: options.models === 'all' ? null : options.models,
  tags: orNull(options.tag),
});

export const orNull = <Value>(value: Value | 'none' | undefined): Value | null | undefined =>
  value === 'none' ? null : value;

/** Epoch milliseconds; null: never. Throws UsageError for what is over. */
export function toExpiry({ clock }: Session, expires: KeyOptions['expires']): number | null | undefined {
  if (expires === undefined) return undefined;
  if (expires === 'none') return null;
  const nowMs = clock.nowMs();
  const expiresAtMs = 'inMs' in expires ? nowMs + expires.inMs : expires.atMs;
  if (!isKeyExpired({ expiresAtMs }, nowMs)) return expiresAtMs;
  throw new UsageError('--expires is not in the future; keys revoke ends a key now');
}
