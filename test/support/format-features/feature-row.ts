// A feature of chat completions, and its translation to each format. The rows are the tables of the README of the
// translated formats: a cell has the same text, with the checks that show it.
import type { Json } from '../provider-answers.ts';

export type { Json } from '../provider-answers.ts';

export const translatedApis = ['messages', 'converse', 'generate-content', 'responses'] as const;
/** A format that has a column. */
export type ColumnApi = (typeof translatedApis)[number];

// biome-ignore lint/suspicious/noExplicitAny: bodies of providers are looked into field by field.
export type Any = any;

/** An answer of a provider that the simulator cannot give. */
export interface ScriptedAnswer {
  readonly whole: Json;
  readonly events: readonly Json[];
}

export interface Ask {
  /** Fields of the request that ask for the feature. */
  readonly asks?: Json;
  /** Other fields of the request. */
  readonly beside?: Json;
  /** The provider's model, if it is not the usual one: it selects a behaviour, or is known to the package. */
  readonly upstream?: Partial<Readonly<Record<ColumnApi, string>>>;
  readonly scripted?: ScriptedAnswer;
}

/** A JSON answer, or an answer that is assembled from the chunks of a stream. */
export interface FeatureAnswer {
  readonly message: Any;
  readonly finishReason: unknown;
  readonly usage: Any;
  /** Largest number of pieces of one call's arguments in a stream. */
  readonly argumentPieces?: number;
}

export type Check = { readonly ask?: Ask } & (
  | { readonly kind: 'sends'; readonly pick: (body: Any) => unknown; readonly expected: unknown }
  /** The provider gets the request without the feature, and the client gets a report of it. */
  | { readonly kind: 'leaves out' }
  /** The candidate is skipped because of this field, and the call is refused if no other candidate remains. */
  | { readonly kind: 'passes over'; readonly member: string }
  /** Applies to streams and to JSON answers. */
  | { readonly kind: 'answers'; readonly pick: (answer: FeatureAnswer) => unknown; readonly expected: unknown }
  | { readonly kind: 'rejects'; readonly reason: string }
);

export interface Cell {
  /** Text of the cell in the README. */
  readonly says: string;
  /** Checks in the order of the requests of their row, or with a request of their own. */
  readonly checks: readonly [Check, ...Check[]];
}

export interface FeatureRow {
  /** Name of the feature in the README. */
  readonly feature: string;
  readonly asks: readonly [Ask, ...Ask[]];
  readonly cells: Readonly<Record<ColumnApi, Cell>>;
}

export const row = (
  feature: string,
  asks: FeatureRow['asks'],
  ...[messages, converse, generateContent, responses]: readonly [Cell, Cell, Cell, Cell]
): FeatureRow => ({ feature, asks, cells: { messages, converse, 'generate-content': generateContent, responses } });

export const cell = (says: string, ...checks: Cell['checks']): Cell => ({ says, checks });
/** Returns the same cell for each column. */
export const everywhere = (one: Cell): readonly [Cell, Cell, Cell, Cell] => [one, one, one, one];
export const yes = (...checks: Cell['checks']): Cell => cell('yes', ...checks);
export const no = (...members: readonly [string, ...string[]]): Cell =>
  cell('no', ...(members.map((member) => ({ kind: 'passes over', member })) as [Check]));
export const leavesOut: Check = { kind: 'leaves out' };
export const leftOut = cell('dropped', leavesOut);
export const passesOver = (member: string): Check => ({ kind: 'passes over', member });
export const sends = (pick: (body: Any) => unknown, expected: unknown, ask?: Ask): Check => ({
  kind: 'sends',
  pick,
  expected,
  ...(ask === undefined ? {} : { ask }),
});
export const answers = (pick: (answer: FeatureAnswer) => unknown, expected: unknown, ask?: Ask): Check => ({
  kind: 'answers',
  pick,
  expected,
  ...(ask === undefined ? {} : { ask }),
});
/** Expects that the answer has no such part. */
export const nothing = (pick: (answer: FeatureAnswer) => unknown, ask?: Ask): Cell =>
  cell('', answers(pick, undefined, ask));
