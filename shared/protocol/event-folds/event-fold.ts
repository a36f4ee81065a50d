// Assembles the events of a stream, as values. This module runs in browsers too, and depends neither on the text of
// events nor on the gateway.

export type FoldedObject = Record<string, unknown>;

/** Assembles the events of one stream to a value. */
export interface EventFold {
  readonly add: (event: Readonly<FoldedObject>) => void;
  /** Returns the whole answer, or the part that has arrived so far. */
  readonly answer: () => FoldedObject;
}

/** Returns an object without a prototype, in which a field of any name is an ordinary field. */
export const emptyObject = (): FoldedObject => Object.create(null) as FoldedObject;

export const isObject = (value: unknown): value is FoldedObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const objectsIn = (value: unknown): FoldedObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

interface RawJson {
  readonly isRawJSON?: (value: unknown) => boolean;
}

/** True for a number whose digits are preserved as they were written. */
export const isRawNumber = (value: unknown): boolean => (JSON as RawJson).isRawJSON?.(value) === true;
