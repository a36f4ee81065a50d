// Puts the events of a stream together, as values. Runs in browsers too: knows no text and nothing of the gateway.

export type FoldedObject = Record<string, unknown>;

/** What the events of one stream make. */
export interface EventFold {
  readonly add: (event: Readonly<FoldedObject>) => void;
  /** The whole answer, or what there is of it so far. */
  readonly answer: () => FoldedObject;
}

/** Without a prototype: a field of any name is a field like others. */
export const emptyObject = (): FoldedObject => Object.create(null) as FoldedObject;

export const isObject = (value: unknown): value is FoldedObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const objectsIn = (value: unknown): FoldedObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

interface RawJson {
  readonly isRawJSON?: (value: unknown) => boolean;
}

/** A number whose digits are kept as they were written. */
export const isRawNumber = (value: unknown): boolean => (JSON as RawJson).isRawJSON?.(value) === true;
