// Defines the kinds of a record's values. Each value is stored as one scalar, and a value of another kind is not stored
// at all. Types apply at compile time only, and a body in the place of a text or a number must not be stored.

import { type ContentKeep, contentKeeps } from '../../foundation/constants/index.ts';
import { maskKeys } from '../../foundation/log/index.ts';
import { formatUsd } from '../../foundation/money/index.ts';
import { formatTags, type JsonObject, type Tags, tagNameShape } from '../../protocol/wire/index.ts';
import type { CallAttempt, CallShare, ContentPlace } from './call-record.ts';

export type Scalar = string | number | bigint | boolean;

/** JSON Schema of a value in a document. */
export type Schema = JsonObject;

export const orNull = ({ type, ...schema }: Schema): Schema => ({ type: [type, 'null'], ...schema });

export interface StoredKind<Value, Json = unknown> {
  /** Returns undefined for a value of another kind. */
  readonly toScalar: (value: unknown) => Scalar | undefined;
  /** Reads the result of `toScalar`. */
  readonly fromScalar: (stored: unknown) => Value;
  /** Value in a document. */
  readonly toJson: (value: Value) => Json;
  readonly schema: Schema;
}

const asItIs = <Value>(value: Value): Value => value;
const shownAsText = { toJson: asItIs<string>, schema: { type: 'string' } };
/** Document form of values that no document shows. */
const notShown = { toJson: () => undefined, schema: {} };

/**
 * Kind of client text and names, some of which contain an API key. The text is cut first, then made well-formed,
 * because the store refuses half of a surrogate pair.
 */
export const text = (maxCharacters: number): StoredKind<string, string> => ({
  ...shownAsText,
  toScalar: (value) => (typeof value === 'string' ? maskKeys(value.slice(0, maxCharacters)).toWellFormed() : undefined),
  fromScalar: (stored) => stored as string,
});

const credentialsInUrl = /\/\/[^/?#]*@/;
const queryAndFragment = /[?#].*$/s;

/** Kind of a web address without anything after its path. */
export const address = (maxCharacters: number): StoredKind<string, string> => {
  const cut = text(maxCharacters);
  return {
    ...cut,
    toScalar: (value) =>
      typeof value === 'string'
        ? cut.toScalar(value.replace(queryAndFragment, '').replace(credentialsInUrl, '//'))
        : undefined,
  };
};

/** Kind of texts from a fixed set, or with a fixed pattern. These texts are never cut. */
export const textLike = <Text extends string>(fits: (value: string) => boolean): StoredKind<Text, Text> => ({
  ...shownAsText,
  toJson: asItIs,
  toScalar: (value) => (typeof value === 'string' && fits(value) ? value : undefined),
  fromScalar: (stored) => stored as Text,
});

const shortWord = /^[a-z0-9_]{1,40}$/;

/** Kind of short words, stored as one text. A longer text (a provider's sentence, say) is replaced by a mark. */
export const words = (countMax: number): StoredKind<readonly string[], undefined> => ({
  ...notShown,
  toScalar: (value) =>
    Array.isArray(value)
      ? value
          .slice(0, countMax)
          .map((word) => (typeof word === 'string' && shortWord.test(word) ? word : 'unnamed'))
          .join(' ')
      : undefined,
  fromScalar: (stored) => (stored === '' ? [] : (stored as string).split(' ')),
});

const memberPath = /^[\w.[\]-]{1,80}$/;

/** Kind of paths of fields of a request, stored as one text. Other texts are dropped. */
export const paths = (countMax: number): StoredKind<readonly string[], readonly string[]> => ({
  toScalar: (value) => {
    const validWords = (Array.isArray(value) ? value : []).filter(
      (path) => typeof path === 'string' && memberPath.test(path),
    );
    return validWords.length === 0 ? undefined : validWords.slice(0, countMax).join(',');
  },
  fromScalar: (stored) => (stored as string).split(','),
  toJson: asItIs,
  schema: { type: 'array', items: { type: 'string' } },
});

/**
 * Matches `provider:outcome:status:ms`, which has an empty status if there was none. Log lines and records of former
 * releases have this form.
 */
const attemptText = /^([a-z0-9][a-z0-9._-]{0,63})(?:#([1-9]\d?))?:([a-z0-9_]{1,40}):([1-5]\d\d)?:(\d{1,12})$/;

/** Writes `openai#2`: the provider with the position of its credential, if it has several. */
export const calledName = ({ provider, credential }: Pick<CallAttempt, 'provider' | 'credential'>): string =>
  credential === undefined ? provider : `${provider}#${credential}`;

export function toAttemptText(value: unknown): string[] {
  const { outcome, status, ms, ...named } = (value ?? {}) as Partial<CallAttempt>;
  const provider = named.provider === undefined ? undefined : calledName({ ...named, provider: named.provider });
  if (typeof provider !== 'string') return [];
  const word = typeof outcome === 'string' && shortWord.test(outcome) ? outcome : 'unnamed';
  const text = [provider, word, typeof status === 'number' ? status : '', duration.toScalar(ms) ?? 0].join(':');
  return attemptText.test(text) ? [text] : [];
}

function fromAttemptText(text: string): CallAttempt[] {
  const [, provider, credential, outcome, status, ms] = attemptText.exec(text) ?? [];
  if (provider === undefined || outcome === undefined) return [];
  return [
    {
      provider,
      ...(credential && { credential: Number(credential) }),
      outcome,
      ...(status === undefined ? {} : { status: Number(status) }),
      ms: Number(ms),
    },
  ];
}

const shareName = text(128);
const attemptModel = text(128);
const attemptProviderText = text(300);
const attemptMismatch = text(300);
const attemptReason = textLike<string>((value) => shortWord.test(value));
type StoredAttempt = [
  attempt: string,
  model: string | null,
  providerText: string | null,
  mismatch?: string | null,
  reason?: string | null,
];

/**
 * Kind of attempts, stored as one text: a JSON list of `provider:outcome:status:ms`. Each element is followed by the
 * model, the provider's text, the schema mismatch and the reason of an unreached provider, if the attempt has them. An
 * outcome that is not a short word is replaced by a mark; an attempt without a provider is dropped.
 */
export const attempts = (countMax: number): StoredKind<readonly CallAttempt[], undefined> => ({
  ...notShown,
  toScalar: (value) => {
    if (!Array.isArray(value)) return undefined;
    const storedAttempts = value.slice(0, countMax).flatMap((attempt: Partial<CallAttempt>) => {
      const texts = [attemptModel.toScalar(attempt?.model), attemptProviderText.toScalar(attempt?.providerText)];
      const rare = [attemptMismatch.toScalar(attempt?.schemaMismatch), attemptReason.toScalar(attempt?.reason)];
      const shownTexts = [...texts, ...rare.slice(0, rare.findLastIndex((text) => text !== undefined) + 1)];
      return toAttemptText(attempt).map((attemptText) => [attemptText, ...shownTexts.map((text) => text ?? null)]);
    });
    return JSON.stringify(storedAttempts);
  },
  fromScalar: (stored) =>
    (stored as string).startsWith('[')
      ? (JSON.parse(stored as string) as StoredAttempt[]).flatMap(fromStoredAttempt)
      : (stored as string).split(' ').flatMap(fromAttemptText),
});

const fromStoredAttempt = ([
  attemptText,
  model,
  providerText,
  schemaMismatch = null,
  reason = null,
]: StoredAttempt): CallAttempt[] =>
  fromAttemptText(attemptText).map((attempt) => ({
    ...attempt,
    ...(model === null ? {} : { model }),
    ...(providerText === null ? {} : { providerText }),
    ...(schemaMismatch === null ? {} : { schemaMismatch }),
    ...(reason === null ? {} : { reason }),
  }));

const tagText = text(64);
const separators = /[,=]/;

/** Kind of tags, stored as one text, `feature=rerank,team=search`. Invalid tags are dropped. */
export const tags = (countMax: number): StoredKind<Tags, Tags> => ({
  toJson: asItIs,
  schema: { type: 'object', additionalProperties: { type: 'string' } },
  toScalar: (value) => {
    if (typeof value !== 'object' || value === null) return undefined;
    const validTags = Object.entries(value).flatMap(([name, one]) => {
      const text = tagText.toScalar(one);
      const isTag = typeof text === 'string' && text !== '' && !separators.test(text) && tagNameShape.test(name);
      return isTag ? [[name, text] as const] : [];
    });
    return validTags.length === 0 ? undefined : formatTags(Object.fromEntries(validTags.slice(0, countMax)));
  },
  fromScalar: (stored) => Object.fromEntries((stored as string).split(',').map((pair) => pair.split('='))),
});

const toCount = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;

export const count: StoredKind<number, number> = {
  toJson: asItIs,
  schema: { type: 'integer', minimum: 0 },
  toScalar: toCount,
  fromScalar: (stored) => stored as number,
};

/** The end of the year 9999: later times have more digits and would not sort as texts. */
export const instantMaxMs = 253_402_300_799_999;

/** Kind of milliseconds since the epoch. */
export const instant: StoredKind<number, string> = {
  ...count,
  toJson: (epochMs) => new Date(epochMs).toISOString(),
  schema: { type: 'string', format: 'date-time' },
  toScalar: (value) => {
    const epochMs = toCount(value);
    return epochMs !== undefined && epochMs <= instantMaxMs ? epochMs : undefined;
  },
};

/** Longest duration, a year, because no call lasts longer, whatever a wrong clock shows. */
const durationMaxMs = 365 * 24 * 60 * 60 * 1000;

/** Kind of whole milliseconds. A clock that was set back makes negative times, which count as 0. */
export const duration: StoredKind<number, number> = {
  ...count,
  toScalar: (value) =>
    Number.isFinite(value) ? Math.min(Math.max(0, Math.round(value as number)), durationMaxMs) : undefined,
  fromScalar: (stored) => stored as number,
};

/** Largest amount, because DynamoDB's numbers are exact to 38 digits. */
const amountMax = 10n ** 38n - 1n;

/** Kind of an exact amount. The store returns small amounts as numbers. */
export const amount: StoredKind<bigint, string> = {
  toJson: formatUsd,
  schema: { type: 'string', pattern: '^-?\\d+(\\.\\d+)?$' },
  toScalar: (value) => (typeof value === 'bigint' && value >= 0n && value <= amountMax ? value : undefined),
  fromScalar: (stored) => BigInt(stored as number | bigint),
};

export const flag: StoredKind<boolean, boolean> = {
  toJson: asItIs,
  schema: { type: 'boolean' },
  toScalar: (value) => (typeof value === 'boolean' ? value : undefined),
  fromScalar: (stored) => stored as boolean,
};

/** Kind of the state of bodies, stored as `30d`, `30d cut` or `30d failed`. */
export const content: StoredKind<ContentPlace, ContentPlace> = {
  toJson: asItIs,
  schema: {
    type: 'object',
    properties: {
      state: { enum: ['kept', 'failed'] },
      keep: { enum: [...contentKeeps] },
      cut: { type: 'boolean' },
    },
    required: ['state', 'keep', 'cut'],
  },
  toScalar: (value) => {
    const { state, keep, cut } = (value ?? {}) as Partial<ContentPlace>;
    if (!contentKeeps.some((one) => one === keep)) return undefined;
    return `${keep}${state === 'failed' ? ' failed' : cut === true ? ' cut' : ''}`;
  },
  fromScalar: (stored) => {
    const [keep, word] = (stored as string).split(' ');
    return { state: word === 'failed' ? 'failed' : 'kept', keep: keep as ContentKeep, cut: word === 'cut' };
  },
};

type StoredShare = [model: string, provider: string, prompt: number, cached: number, completion: number, cost: string];

/** Kind of shares, stored as one JSON text. A share with an invalid field is dropped. */
export const shares = (countMax: number): StoredKind<readonly CallShare[], undefined> => ({
  ...notShown,
  toScalar: (value) => {
    if (!Array.isArray(value) || value.length === 0) return undefined;
    return JSON.stringify(value.slice(0, countMax).flatMap(toStoredShare));
  },
  fromScalar: (stored) => (JSON.parse(stored as string) as StoredShare[]).map(fromStoredShare),
});

function toStoredShare(value: unknown): StoredShare[] {
  const share = (value ?? {}) as Partial<CallShare>;
  const names = [shareName.toScalar(share.model), shareName.toScalar(share.provider)];
  const counts = [share.promptTokens, share.cachedTokens, share.completionTokens].map(toCount);
  const cost = amount.toScalar(share.costPicoUsd)?.toString();
  const storedShare = [...names, ...counts, cost];
  return storedShare.includes(undefined) ? [] : [storedShare as StoredShare];
}

const fromStoredShare = ([model, provider, prompt, cached, completion, cost]: StoredShare): CallShare => ({
  model,
  provider,
  promptTokens: prompt,
  cachedTokens: cached,
  completionTokens: completion,
  costPicoUsd: BigInt(cost),
});
