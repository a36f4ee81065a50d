// Parses options and arguments. Messages name the valid form and never repeat the typed text.
import { isUtcDay } from '../../../shared/accounting/call-records/index.ts';
import { inLowerCase } from '../../../shared/configuration/access/index.ts';
import { keyName, parseApiKey } from '../../../shared/configuration/keys/index.ts';
import { id } from '../../../shared/configuration/value-forms/index.ts';
import { formatUsd, parseUsd } from '../../../shared/foundation/money/index.ts';
import { dayMs, readDuration } from '../../../shared/foundation/time/index.ts';
import { listOf, readTags, type Tags } from '../../../shared/protocol/wire/index.ts';

/** The arguments are not valid. The message never repeats a value, because it may be a secret in the wrong place. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Parses one value. `name` is the argument's or the option's name on the command line. Throws UsageError. */
export type ParseOption = (name: string, text: string) => unknown;
/** Parses one value of an option that may be repeated. */
export type ParseRepeatedOption = (name: string, text: string, former: unknown) => unknown;

const publicIdPattern = /^[0-9A-Za-z]{16}$/;

interface Schema {
  safeParse(value: unknown): { readonly success: boolean };
}

/** Parses a value as requests write it. `form` follows the name in the message. */
export const readValid =
  <Value>(schema: Schema, description: string, toValue: (text: string) => Value) =>
  (name: string, text: string): Value => {
    const value = toValue(text);
    if (schema.safeParse(value).success) return value;
    throw new UsageError(`${name} ${description}`);
  };

export const asText = (text: string): string => text;
export const partsOf = (text: string): string[] => text.split(',').map((part) => part.trim());

/** Parses the id of a workspace, function or revision. */
export const readId = readValid(id, 'is 1 to 64 letters, digits, - or _', asText);

/** Parses a provider's id as the gateway file does. */
export function readProviderId(name: string, text: string): string {
  if (/^[a-z0-9][a-z0-9._-]{0,63}$/.test(text)) return text;
  throw new UsageError(`${name} is the id of a provider, as providers list shows it`);
}

export const readKeyName = readValid(keyName, 'is 1 to 64 characters', asText);

/**
 * Returns the public part of a key; undefined for another text. The text may be the public part or a whole key, because
 * an operator may know only one of both after a leak.
 */
export const publicIdIn = (text: string): string | undefined =>
  parseApiKey(text)?.publicId ?? (publicIdPattern.test(text) ? text : undefined);

export function readPublicId(name: string, text: string): string {
  const publicId = publicIdIn(text);
  if (publicId !== undefined) return publicId;
  throw new UsageError(`${name} is the 16 letters and digits behind sk-gw-, as the list shows them`);
}

/** Parses ids with commas between them. */
export const readIds = readValid(
  listOf(id),
  'takes ids of letters, digits, - and _, with commas between them',
  partsOf,
);

/**
 * Parses a person who created keys for themselves: an e-mail address, or the listed name of a person without an
 * address.
 */
export function readOwner(name: string, text: string): string {
  if (/^\S{1,320}$/.test(text)) return text.startsWith('subject:') ? text : inLowerCase(text);
  throw new UsageError(`${name} is an e-mail address`);
}

/** Parses a limit, as requests write it. */
export function readUsd(name: string, text: string): string {
  const amount = parseUsd(text);
  if (amount !== undefined && amount > 0n) return formatUsd(amount);
  throw new UsageError(`${name} is an amount of USD above 0, as in 25.00`);
}

/** Parses the change of a credit; below 0 for a removal. */
export function readUsdChange(name: string, text: string): string {
  const amount = parseUsd(text.replace(/^-/, ''));
  if (amount !== undefined && amount > 0n) return formatUsd(text.startsWith('-') ? -amount : amount);
  throw new UsageError(`${name} is an amount of USD above 0, or below it to take credit away, as in 25.00 or -5`);
}

/** Removes a limit or a rule, like null in a request. Commander treats null as a missing value. */
export const none = Symbol('none');

export const readOrNone =
  <Value>(read: (name: string, text: string) => Value) =>
  (name: string, text: string): Value | typeof none =>
    text === 'none' ? none : read(name, text);

/** Maps a typed value to the value in requests. */
export const readAs =
  <Value, Sent>(read: (name: string, text: string) => Value, toSent: (value: Value) => Sent) =>
  (name: string, text: string): Sent =>
    toSent(read(name, text));

export function readPositiveInteger(name: string, text: string): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (value >= 1) return value;
  throw new UsageError(`${name} is a whole number from 1`);
}

/** Parses `team=search`, or several tags with commas between them. */
export function readMoreTags(name: string, text: string, former: unknown): Tags {
  const before = (former ?? {}) as Tags;
  const tags = readTags(text);
  if (tags === undefined) throw new UsageError(`${name} is a name and a value, as in team=search`);
  if (Object.keys(tags).some((one) => Object.hasOwn(before, one))) {
    throw new UsageError(`${name} gives one name twice`);
  }
  return { ...before, ...tags };
}

export const readText: ParseOption = (_name, text) => text;

export const readChoice =
  <Choice extends string>(choices: readonly Choice[]) =>
  (name: string, text: string): Choice => {
    const choice = choices.find((known) => known === text);
    if (choice !== undefined) return choice;
    throw new UsageError(`${name} is one of ${choices.join(', ')}`);
  };

/**
 * Maximum period of a report. Call records are stored 90 days. If they are stored longer, a year is enough for one
 * report.
 */
const sinceDaysMax = 366;

/** Parses `7d`, `12h`, `15m`, `90s`, `500ms` to milliseconds; undefined for another text. */
export const readTime = (text: string): number | undefined => readDuration(text, ['ms', 's', 'm', 'h', 'd']);

/** Parses a length of time to milliseconds. */
export function readLength(name: string, text: string): number {
  const lengthMs = readTime(text);
  if (lengthMs === undefined) throw new UsageError(`${name} is a length of time: 500ms, 5s, 1m`);
  return lengthMs;
}

/**
 * Parses a time to epoch milliseconds. Throws UsageError for anything else than `7d`, `12h`, `15m`, `90s` or
 * `2026-11-01`, and for more than a year.
 */
export function readSince(name: string, text: string, nowMs: number): number {
  const sinceMs = isUtcDay(text) ? Date.parse(`${text}T00:00:00Z`) : nowMs - (readTime(text) ?? Number.NaN);
  if (Number.isNaN(sinceMs))
    throw new UsageError(`${name} is a length of time or a day of UTC: 7d, 12h, 15m, 90s, 2026-11-01`);
  if (sinceMs > nowMs) throw new UsageError(`${name} lies in the future`);
  if (nowMs - sinceMs > sinceDaysMax * dayMs) throw new UsageError(`${name} is at most ${sinceDaysMax} days back`);
  return sinceMs;
}
