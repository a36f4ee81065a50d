// Parses text to plain values, with bounds, because a file may be large, deep, or an alias bomb, and still costs little
// to refuse.
import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type YAMLError,
} from 'yaml';
import type { Issue, LineOf, Path } from './problems.ts';

/**
 * Bound of a file. The catalogue is stored compressed in one item of 400 KB, and four mebibytes of YAML are far above
 * that.
 */
const gatewayFileMaxBytes = 4 * 1024 * 1024;
/** Bound of the values into which aliases may multiply. */
const aliasCountMax = 100;
/** Maximum nesting; aliases can form a cycle, so nesting and number of values are counted during the walk. */
const depthMax = 64;
const valuesMax = 500_000;
const syntaxProblemsMax = 20;

export type YamlSource =
  | { readonly kind: 'unreadable'; readonly issues: Issue[] }
  | {
      readonly kind: 'value';
      readonly value: unknown;
      /** Issues of values that JSON cannot express; the other checks can still run. */
      readonly issues: Issue[];
      /** Finds the line; for a field that is not written, the line of the nearest written field around it. */
      readonly lineOf: LineOf;
    };

/** Never throws. */
export function readYaml(text: string): YamlSource {
  if (Buffer.byteLength(text) > gatewayFileMaxBytes) return unreadable(`is larger than ${gatewayFileMaxBytes} bytes`);
  try {
    return parse(text);
  } catch (cause) {
    // This parser throws only errors of nesting beyond the stack, of unknown aliases, and of aliases beyond the bound.
    return unreadable(
      cause instanceof RangeError
        ? tooDeep
        : 'cannot be read: an alias has no anchor before it, or there are too many aliases',
    );
  }
}

function parse(text: string): YamlSource {
  const lines = new LineCounter();
  // Pretty errors would quote the file, including secrets.
  const document = parseDocument(text, {
    prettyErrors: false,
    lineCounter: lines,
    stringKeys: true,
    logLevel: 'error',
  });
  const faults = syntaxFaults([...document.errors, ...document.warnings]);
  if (faults.length > 0) return { kind: 'unreadable', issues: faults.map((fault) => syntaxIssue(fault, lines)) };
  const value: unknown = document.toJS({ maxAliasCount: aliasCountMax });
  if (value === null || value === undefined) return unreadable('is empty');
  const walk: Walk = { issues: [], values: 0 };
  if (!visit(value, [], walk)) return { kind: 'unreadable', issues: walk.issues };
  return { kind: 'value', value, issues: walk.issues, lineOf: (path) => findLine(document, lines, path) };
}

const unreadable = (message: string): YamlSource => ({ kind: 'unreadable', issues: [{ path: [], message }] });

/**
 * Returns only the first fault, because the parser's faults in later lines follow from it. Duplicate names leave the
 * rest valid, so all of them are returned.
 */
function syntaxFaults(all: readonly YAMLError[]): readonly YAMLError[] {
  const [first] = all.filter(({ code }) => code !== 'DUPLICATE_KEY').toSorted((a, b) => a.pos[0] - b.pos[0]);
  return first === undefined ? all.slice(0, syntaxProblemsMax) : [first];
}

const tooDeep = 'is nested too deeply';

/** Advice if the parser's message has no advice. */
const adviceByCode: Partial<Record<ErrorCode, string>> = {
  TAB_AS_INDENT: 'a tab stands where YAML takes spaces only: indent with spaces',
  BLOCK_AS_IMPLICIT_KEY: 'a text with a colon in it must stand in quotes, or the line is indented wrongly',
  DUPLICATE_KEY:
    'the names of a mapping are unique, and this one is written twice: write it once, with all that belongs to it',
  RESOURCE_EXHAUSTION: tooDeep,
  MULTIPLE_DOCS: 'the file holds multiple documents: a gateway file is one, without --- in it',
};

function syntaxIssue({ pos: [offset], code, message }: YAMLError, lines: LineCounter): Issue {
  const { line, col } = lines.linePos(offset);
  return { path: [], message: `line ${line}, column ${col}: ${adviceByCode[code] ?? message}` };
}

/** Returns undefined for the file as a whole. */
function findLine(document: Document, lines: LineCounter, path: Path): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && key.value === step);
      if (pair === undefined) break;
      offset = offsetOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node) && typeof step === 'number') {
      node = node.items[step];
      offset = offsetOf(node) ?? offset;
    } else break;
  }
  return offset === undefined ? undefined : lines.linePos(offset).line;
}

const offsetOf = (node: unknown): number | undefined => (node as { range?: [number] } | undefined)?.range?.[0];

interface Walk {
  readonly issues: Issue[];
  values: number;
}

/** Visits a value. Returns false once a bound is exceeded, which ends the walk. */
function visit(value: unknown, path: Path, walk: Walk): boolean {
  walk.values += 1;
  if (walk.values > valuesMax || path.length > depthMax) {
    walk.issues.push({
      path: [],
      message: `holds more than ${valuesMax} values, or is nested deeper than ${depthMax}`,
    });
    return false;
  }
  if (Array.isArray(value)) return value.every((item, index) => visit(item, [...path, index], walk));
  if (isMapping(value)) return Object.keys(value).every((key) => visitMember(value, key, path, walk));
  const message = faultOf(value);
  if (message !== undefined) walk.issues.push({ path, message });
  return true;
}

function visitMember(mapping: Record<string, unknown>, key: string, path: Path, walk: Walk): boolean {
  // A field with this name would change an object's prototype wherever objects are merged.
  if (key === '__proto__') walk.issues.push({ path: [...path, key], message: 'is not allowed as a name' });
  return visit(mapping[key], [...path, key], walk);
}

function faultOf(value: unknown): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value !== 'number') return 'is of a kind that JSON does not have';
  if (!Number.isFinite(value)) return 'must be a finite number';
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return 'is too large to be kept exactly';
  return undefined;
}

/**
 * True for a plain object, which is the result of a YAML mapping, and nothing else (no buffer, set or map of an
 * explicit tag).
 */
export const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
