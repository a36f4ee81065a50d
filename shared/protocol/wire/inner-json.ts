// Checks JSON in a text inside a body or an answer, such as the arguments of a tool call, which the bounds of the outer
// JSON do not cover.
import { jsonValuesMax } from '../../foundation/constants/index.ts';
import { parseJson } from './read-json-text.ts';
import { scanJson } from './scan-json.ts';

/** Maximum nesting, the same as of a body. */
const depthMax = 64;

interface InnerJson {
  readonly value: unknown;
  /** Number of its values, itself included. */
  readonly values: number;
}

/** Returns undefined for text that is not JSON, or has more values than a body may have. */
export function parseInnerJson(text: string, valuesMax: number = jsonValuesMax): InnerJson | undefined {
  const scanned = scanJson(text, { depthMax, valuesMax });
  return scanned.kind === 'json' ? { value: parseJson(text), values: scanned.json.next(0) } : undefined;
}
