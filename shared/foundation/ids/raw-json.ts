// Numbers that survive. An integer beyond 2^53 (a seed, say) must reach the provider as it was sent, and JSON.parse would
// round it; `JSON.rawJSON` keeps its text. Types for what V8 has and the compiler's library lacks.

interface RawJson {
  readonly rawJSON: string;
}

interface JsonWithSource {
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
}

const json = JSON as unknown as JsonWithSource;

export const rawNumber = (text: string): RawJson => json.rawJSON(text);

export const isRawNumber = (value: unknown): value is RawJson => json.isRawJSON(value);
