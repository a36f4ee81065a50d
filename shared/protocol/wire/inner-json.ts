// JSON in a text inside a body or an answer, such as the arguments of a tool call: the bounds of the outer one do not see into it.
import { jsonValuesMax } from '../../foundation/constants/index.ts';
import { parseJson } from './read-json-text.ts';
import { scanJson } from './scan-json.ts';

/** As that of a body. */
const depthMax = 64;

export interface InnerJson {
  readonly value: unknown;
  /** How many it holds, itself included. */
  readonly values: number;
}

/** Undefined: it is no JSON, or more of it than a body may hold. */
export function parseInnerJson(text: string, valuesMax: number = jsonValuesMax): InnerJson | undefined {
  const scanned = scanJson(text, { depthMax, valuesMax });
  return scanned.kind === 'json' ? { value: parseJson(text), values: scanned.json.next(0) } : undefined;
}
