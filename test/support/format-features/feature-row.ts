// A feature of chat completions, and its translation to each format. The rows are the tables of the README of the
// translated formats: a cell has the same text, with the checks that show it.
import type { Json } from '../provider-answers.ts';

export type { Json } from '../provider-answers.ts';

export const translatedApis = ['messages', 'converse', 'generate-content', 'responses'] as const;
/** A format that has a column. */
export type ColumnApi = (typeof translatedApis)[number];

// biome-ignore lint/suspicious/noExplicitAny: bodies of providers are looked into field by field.
export type Any = any;

/** An answer of a provider that no behaviour of the simulator gives. */
export interface ScriptedAnswer {
  readonly whole: Json;
  readonly events: readonly Json[];
}

export interface Ask {
  /** Fields of the request that ask for the feature. */
  readonly asks?: Json;
  /** Other fields of the request. */
  readonly beside?: Json;
  /** The model of the provider, where another than the usual one: how it behaves, or what the package knows of it. */
  readonly upstream?: Partial<Readonly<Record<ColumnApi, string>>>;
  readonly scripted?: ScriptedAnswer;
}

/** A whole answer, or one put together from the chunks of a stream. */
export interface FeatureAnswer {
  readonly message: Any;
  readonly finishReason: unknown;
  readonly usage: Any;
  /** Of a stream: the most pieces that the arguments of one call came in. */
  readonly argumentPieces?: number;
}

export type Check = { readonly ask?: Ask } & (
  | { readonly kind: 'sends'; readonly pick: (body: Any) => unknown; readonly expected: unknown }
  /** The provider gets the request as without the feature. The client gets a report of it. */
  | { readonly kind: 'leaves out' }
  /** The candidate is passed over because of this field, and the call refused where no other is left. */
  | { readonly kind: 'passes over'; readonly member: string }
  /** Streamed and whole. */
  | { readonly kind: 'answers'; readonly pick: (answer: FeatureAnswer) => unknown; readonly expected: unknown }
  | { readonly kind: 'rejects'; readonly reason: string }
);

export interface Cell {
  /** As the README says it. */
  readonly says: string;
  /** In the order of the asks of their row, or with one of their own. */
  readonly checks: readonly [Check, ...Check[]];
}

export interface FeatureRow {
  /** As the README names it. */
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
/** In each column. */
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
/** Nothing of the kind comes. */
export const nothing = (pick: (answer: FeatureAnswer) => unknown, ask?: Ask): Cell =>
  cell('', answers(pick, undefined, ask));
