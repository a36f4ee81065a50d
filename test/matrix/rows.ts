// The rows of the matrix: rules for every call, by the file that tests them, each with the reasons for which a column
// has no cell.
import { columns, type MatrixColumn, type Reason, reasons } from './columns.ts';

export const always = ['cannot serve', 'has no stream'] as const satisfies readonly Reason[];
const noProvider = [...always, 'calls no provider'] as const;
const noPrice = [...always, 'has no price'] as const;
const noText = [...always, 'has no text of a model'] as const;

export const rows = {
  guardrails: {
    'a guardrail blocks the input': always,
    'a guardrail masks the input': noProvider,
    'a guardrail blocks the answer': noText,
    'a guardrail masks the answer': noText,
    'a guardrail blocks the middle of the answer': [...noText, 'is whole'],
    'a guardrail blocks what a provider adds to the answer': noText,
    'a guardrail blocks an answer that the provider keeps': [...noText, 'keeps no answer at the provider'],
    'a guardrail blocks a text in a schema': [...always, 'has no tools'],
    'a guardrail masks an answer of a schema': [...noText, 'has no schema'],
  },
  deliveries: {
    'an answer in the other delivery': [...always, 'has one delivery'],
    'an error before output': noProvider,
    'an error after output': [...always, 'is whole'],
    'a client that leaves': noProvider,
    'our account at its limit': noProvider,
    'a field that is dropped': noProvider,
  },
  replays: {
    'a retry with its Idempotency-Key': always,
    'what was dropped for a replayed answer': noProvider,
    'another body under an Idempotency-Key': always,
    'a replayed answer for other guardrails': noText,
    'a cached answer': [...always, 'is not cached'],
    'what was dropped for a cached answer': [...always, 'is not cached'],
    'a cached answer for other guardrails': [...always, 'is not cached'],
  },
  accounts: {
    'a key of the client at the provider': noProvider,
    'a pool of credentials': noProvider,
    'state that another workspace made': [...always, 'has no state at the provider'],
    'a provider that cannot serve': ['can serve', 'has no stream'],
    'a data policy': always,
    'the content log': always,
  },
  limits: {
    'requests a minute of a key': always,
    'a spend limit of a key': noPrice,
    'a spend limit of a workspace': noPrice,
    'a workspace without credit': noPrice,
    'concurrent calls of a key': noPrice,
    'concurrent calls of a workspace': noPrice,
    'requests a minute of a provider': noProvider,
    'an alert of spending': noPrice,
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, readonly Reason[]>>>>;
export type Group = keyof typeof rows;
export type RowOf<One extends Group> = keyof (typeof rows)[One] & string;
export type MatrixRow = { readonly [One in Group]: RowOf<One> }[Group];

/** Returns the tested cells of a group, by row. Throws if the group lacks a row. */
export function askedCells<One extends Group>(
  group: One,
  ask: Readonly<Partial<Record<RowOf<One>, unknown>>>,
): (readonly [RowOf<One>, MatrixColumn[]])[] {
  return (Object.entries(rows[group]) as [RowOf<One>, readonly Reason[]][]).map(([row, rowReasons]) => {
    if (ask[row] === undefined) throw new Error(`nothing asks the row: ${row}`);
    return [row, columns.filter((column) => reasonOf(rowReasons, column) === undefined)];
  });
}

/** Returns why the cell is not tested; undefined if it is. */
export const reasonOf = (rowReasons: readonly Reason[], column: MatrixColumn): Reason | undefined =>
  rowReasons.find((reason) => reasons[reason](column));
