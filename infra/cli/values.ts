// Values of options and arguments. Messages name the form that is wanted and never repeat what was typed.
import { parseApiKey } from '../../shared/configuration/keys/index.ts';
import { idPattern } from '../../shared/foundation/constants/index.ts';
import { type PicoUsd, parseUsd } from '../../shared/foundation/money/index.ts';
import { UsageError } from './usage-error.ts';

const publicIdPattern = /^[0-9A-Za-z]{16}$/;
const keyNameMaxCharacters = 64;

/** Workspaces, functions and revisions. `name` is how the line calls it. */
export function readId(name: string, text: string): string {
  if (idPattern.test(text)) return text;
  throw new UsageError(`${name} is 1 to 64 letters, digits, - or _`);
}

export const readOptional = <Value>(
  read: (name: string, text: string) => Value,
  name: string,
  text: string | undefined,
): Value | undefined => (text === undefined ? undefined : read(name, text));

/** As in the gateway file. */
export function readKeyName(name: string, text: string): string {
  if (text.length >= 1 && text.length <= keyNameMaxCharacters && !/\p{Cc}/u.test(text)) return text;
  throw new UsageError(`${name} is 1 to ${keyNameMaxCharacters} characters`);
}

/** The public part of a key. A whole key is taken too: it may be all that a leak left in the operator's hands. */
export function readPublicId(name: string, text: string): string {
  const publicId = parseApiKey(text)?.publicId ?? (publicIdPattern.test(text) ? text : undefined);
  if (publicId !== undefined) return publicId;
  throw new UsageError(`${name} is the 16 letters and digits behind sk-gw-, as keys list shows them`);
}

/** Above zero: nobody adds or limits to nothing. */
export function readUsd(name: string, text: string): PicoUsd {
  const amount = parseUsd(text);
  if (amount !== undefined && amount > 0n) return amount;
  throw new UsageError(`${name} is an amount of USD above 0, as in 25.00`);
}

export function readPositiveInteger(name: string, text: string): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (value >= 1) return value;
  throw new UsageError(`${name} is a whole number from 1`);
}

export function readChoice<Choice extends string>(choices: readonly Choice[]) {
  return (name: string, text: string): Choice => {
    const choice = choices.find((known) => known === text);
    if (choice !== undefined) return choice;
    throw new UsageError(`${name} is one of ${choices.join(', ')}`);
  };
}
