// Reads a file of LiteLLM for an import: the line of each field, and the fields that the gateway file contains by now.
// All other fields become comments.
import { isMapping, type Path, readYaml } from '../../../shared/configuration/gateway-file/index.ts';

export type Mapping = Readonly<Record<string, unknown>>;

/** A comment of the gateway file. */
export interface ImportNote {
  /** Line of the LiteLLM file, from 1. */
  readonly line: number;
  readonly text: string;
}

const environmentPrefix = 'os.environ/';

export class LiteLlmSource {
  readonly #value: Mapping;
  readonly #lineOf: (path: Path) => number | undefined;
  readonly #used = new Set<string>();
  readonly #notes: ImportNote[] = [];
  readonly #variables: Readonly<Record<string, string | undefined>>;

  /** Reads a file. Throws an Error with one line for the terminal. */
  constructor(text: string, variables: Readonly<Record<string, string | undefined>>) {
    const source = readYaml(text);
    if (source.kind === 'unreadable') throw new Error(source.issues[0]?.message ?? 'cannot be read');
    const value = withMerges(source.value);
    if (!isMapping(value)) throw new Error('is no file of LiteLLM: it has no model_list');
    this.#value = value;
    this.#lineOf = source.lineOf;
    this.#variables = variables;
  }

  /** Returns a value without marking it as used. */
  look(path: Path): unknown {
    return path.reduce<unknown>((value, step) => (value as Mapping | undefined | null)?.[step as string], this.#value);
  }

  /** Returns a value, and marks it and its fields as used. */
  use(path: Path): unknown {
    const value = this.look(path);
    if (value !== undefined) this.#used.add(keyOf(path));
    return value;
  }

  list(path: Path): readonly unknown[] {
    const value = this.look(path);
    return Array.isArray(value) ? value : [];
  }

  mapping(path: Path): Mapping {
    const value = this.look(path);
    return isMapping(value) ? value : {};
  }

  text(path: Path): string | undefined {
    const value = this.use(path);
    return typeof value === 'string' || typeof value === 'number' ? this.resolve(String(value)) : undefined;
  }

  /** Returns a number above 0. */
  number(path: Path): number | undefined {
    const written = this.text(path);
    const value = written === undefined || written.trim() === '' ? Number.NaN : Number(written);
    return Number.isFinite(value) && value > 0 ? value : undefined;
  }

  /** Returns the name of the variable in a value `os.environ/NAME`; undefined for any other value. */
  variableOf(path: Path): string | undefined {
    const value = this.look(path);
    if (typeof value !== 'string' || !value.startsWith(environmentPrefix)) return undefined;
    const name = value.slice(environmentPrefix.length);
    return /^[A-Za-z_]\w{0,127}$/.test(name) ? name : undefined;
  }

  /** Returns undefined for a variable that is not set in this shell. */
  resolve(text: string): string | undefined {
    if (!text.startsWith(environmentPrefix)) return text;
    return this.#variables[text.slice(environmentPrefix.length)] || undefined;
  }

  isSet(name: string): boolean {
    return (this.#variables[name] ?? '') !== '';
  }

  /** Adds a comment. A comment never contains a value of the file, which may be a secret. */
  note(path: Path, text: string): void {
    this.#notes.push({ line: this.#lineOf(path) ?? 1, text: `${pathText(path)}: ${text}` });
  }

  /** Returns all comments, in the order of the lines. */
  notes(reasonFor: (path: Path) => string): readonly ImportNote[] {
    this.#noteUnused(this.#value, [], reasonFor);
    return this.#notes.toSorted((one, other) => one.line - other.line);
  }

  #noteUnused(value: unknown, path: Path, reasonFor: (path: Path) => string): void {
    if (this.#used.has(keyOf(path))) return;
    const prefix = path.length === 0 ? '' : `${keyOf(path)}\n`;
    const isSection = path.length === 0 || (path.length === 1 && /_settings$/.test(String(path[0])));
    const isUsedBelow = isSection || [...this.#used].some((used) => used.startsWith(prefix));
    if (!isUsedBelow) {
      this.note(path, reasonFor(path));
      return;
    }
    const members = Array.isArray(value) ? value.entries() : isMapping(value) ? Object.entries(value) : [];
    for (const [step, member] of members) this.#noteUnused(member, [...path, step], reasonFor);
  }
}

const keyOf = (path: Path): string => path.map(String).join('\n');

const pathText = (path: Path): string =>
  path.map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${String(step)}`)).join('');

/** Merges anchors: `<<: *anchor` is an ordinary field in YAML 1.2, and means the fields of the anchor in LiteLLM. */
function withMerges(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withMerges);
  if (!isMapping(value)) return value;
  const { '<<': anchored, ...members } = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withMerges(member)]),
  );
  const parts = (Array.isArray(anchored) ? anchored.toReversed() : [anchored]).filter(isMapping);
  return Object.assign({}, ...parts, members);
}
