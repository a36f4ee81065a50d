// From text to plain values, bounded: a file may be large, deep, or an alias bomb, and still costs little to refuse.
import { LineCounter, parseDocument, type YAMLError } from 'yaml';
import { type Path, type Problem, problemAt } from './problems.ts';

/** The catalogue is stored in one item of 400 KB, compressed: four mebibytes of YAML are far above what fits. */
export const gatewayFileMaxBytes = 4 * 1024 * 1024;
/** How many values aliases may multiply into. */
const aliasCountMax = 100;
/** Aliases can make a circle: depth and number of values are bounded while they are walked. */
const depthMax = 64;
const valuesMax = 500_000;
const syntaxProblemsMax = 20;

export type YamlSource =
  | { readonly kind: 'unreadable'; readonly problems: Problem[] }
  /** `problems` are values that JSON cannot hold; the shape can still be checked. */
  | { readonly kind: 'value'; readonly value: unknown; readonly problems: Problem[] };

/** Never throws. */
export function readYaml(text: string): YamlSource {
  if (Buffer.byteLength(text) > gatewayFileMaxBytes) return unreadable(`is larger than ${gatewayFileMaxBytes} bytes`);
  try {
    return parse(text);
  } catch {
    // Aliases beyond the bound, or nesting beyond the stack: the only ways this parser throws.
    return unreadable('cannot be read: too many aliases, a circle of aliases, or nested too deeply');
  }
}

function parse(text: string): YamlSource {
  const lines = new LineCounter();
  // Pretty errors would quote the file, secrets included.
  const document = parseDocument(text, {
    prettyErrors: false,
    lineCounter: lines,
    stringKeys: true,
    logLevel: 'error',
  });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    const problems = faults.slice(0, syntaxProblemsMax).map((fault) => syntaxProblem(fault, lines));
    return { kind: 'unreadable', problems };
  }
  const value: unknown = document.toJS({ maxAliasCount: aliasCountMax });
  if (value === null || value === undefined) return unreadable('is empty');
  const walk: Walk = { problems: [], values: 0 };
  const bounded = visit(value, [], walk);
  return bounded ? { kind: 'value', value, problems: walk.problems } : { kind: 'unreadable', problems: walk.problems };
}

const unreadable = (message: string): YamlSource => ({ kind: 'unreadable', problems: [problemAt([], message)] });

function syntaxProblem(fault: YAMLError, lines: LineCounter): Problem {
  const { line, col } = lines.linePos(fault.pos[0]);
  return problemAt([], `line ${line}, column ${col}: ${fault.message}`);
}

interface Walk {
  readonly problems: Problem[];
  values: number;
}

/** False once a bound is passed: the walk ends there. */
function visit(value: unknown, path: Path, walk: Walk): boolean {
  walk.values += 1;
  if (walk.values > valuesMax || path.length > depthMax) {
    walk.problems.push(problemAt([], `holds more than ${valuesMax} values, or is nested deeper than ${depthMax}`));
    return false;
  }
  if (Array.isArray(value)) return value.every((item, index) => visit(item, [...path, index], walk));
  if (isMapping(value)) return Object.keys(value).every((key) => visitMember(value, key, path, walk));
  const message = faultOf(value);
  if (message !== undefined) walk.problems.push(problemAt(path, message));
  return true;
}

function visitMember(mapping: Record<string, unknown>, key: string, path: Path, walk: Walk): boolean {
  // A member of this name would change what an object is wherever objects are merged.
  if (key === '__proto__') walk.problems.push(problemAt([...path, key], 'is not allowed as a name'));
  return visit(mapping[key], [...path, key], walk);
}

function faultOf(value: unknown): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value !== 'number') return 'is of a kind that JSON does not have';
  if (!Number.isFinite(value)) return 'must be a finite number';
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return 'is too large to be kept exactly';
  return undefined;
}

/** A plain object: what a YAML mapping becomes, and nothing else (no buffer, set or map of an explicit tag). */
export const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
