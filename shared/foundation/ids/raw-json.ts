// JSON whose numbers survive. An integer beyond 2^53 (a seed, say) must reach the provider as it was sent, and plain
// JSON.parse would round it; `JSON.rawJSON` keeps its text. Types for what V8 has and the compiler's library lacks.

interface RawJson {
  readonly rawJSON: string;
}

interface JsonWithSource {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
}

const json = JSON as unknown as JsonWithSource;

/** Without one of these no number can be unsafe, and the plain parser is many times faster. */
const maybeUnsafeNumber = /\d{16}|\d[eE]\+?\d{2}/;

/** Parses JSON, keeping integers beyond 2^53 as raw text. Throws SyntaxError like JSON.parse. */
export function parseJson(text: string): unknown {
  if (!maybeUnsafeNumber.test(text)) return JSON.parse(text);
  return json.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && isUnsafe(value) && source !== undefined ? json.rawJSON(source) : value,
  );
}

/** Rounded, or beyond what a double can hold. */
const isUnsafe = (value: number): boolean =>
  !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));

export const isRawNumber = (value: unknown): value is RawJson => json.isRawJSON(value);
