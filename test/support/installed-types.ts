// Types of installed packages, read by TypeScript itself: a package's own declarations say which names it has.
import type { ChildProcess } from 'node:child_process';
import { dirname, join } from 'node:path';
import { API, type Checker, type Type } from 'typescript/unstable/sync';
import { projectRoot } from './source-files.ts';

const config = {
  compilerOptions: { module: 'nodenext', target: 'esnext', strict: true, skipLibCheck: true, types: [] },
  files: ['types.ts'],
};

/**
 * Returns the literals in each of these types, sorted. `imports` are the lines before the types. Throws if a type
 * contains none, so that a name which the package has removed is not an empty union.
 */
export const literalsOf = (
  imports: string,
  types: Readonly<Record<string, string>>,
): Readonly<Record<string, readonly string[]>> =>
  readTypes(imports, types, (type, name) => {
    const literals = membersOfUnion(type).flatMap((one) => (one.isStringLiteralType() ? [one.value] : []));
    if (literals.length === 0) throw new Error(`${name}: holds no literal`);
    return literals.toSorted();
  });

/** A step from the type inwards: the field, whether it is a list, and the last `type` that its object can have. */
export interface FieldStep {
  readonly name: string;
  readonly isList: boolean;
  readonly typeOfOwner: string | undefined;
}

/**
 * Returns the paths to all fields within each of these types whose name matches. If a type occurs twice, the first path
 * counts.
 */
export const fieldsNamed = (
  imports: string,
  types: Readonly<Record<string, string>>,
  pattern: RegExp,
): Readonly<Record<string, readonly (readonly FieldStep[])[]>> =>
  readTypes(imports, types, (type, name, checker) => {
    const found = waysTo(type, pattern, checker);
    if (found.length === 0) throw new Error(`${name}: has no such field`);
    return found;
  });

function waysTo(from: Type, pattern: RegExp, checker: Checker): (readonly FieldStep[])[] {
  const found: (readonly FieldStep[])[] = [];
  const seen = new Set<unknown>();
  const waiting: { readonly type: Type; readonly way: readonly FieldStep[] }[] = [{ type: from, way: [] }];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { type, way } = next;
    if (seen.has(type.id)) continue;
    seen.add(type.id);
    const last = way.at(-1);
    if (type.isUnionType()) waiting.push(...type.getTypes().map((one) => ({ type: one, way })));
    else if (checker.isArrayLikeType(type) && last !== undefined) {
      const list = [...way.slice(0, -1), { ...last, isList: true }];
      waiting.push(...checker.getTypeArguments(type as never).map((one) => ({ type: one, way: list })));
    } else if (type.isObjectType()) {
      const typeOfOwner = literalsIn(checker.getPropertyOfType(type, 'type'), checker).toSorted().at(-1);
      for (const field of checker.getPropertiesOfType(type)) {
        const inner = [...way, { name: field.name, isList: false, typeOfOwner }];
        if (pattern.test(field.name)) found.push(inner);
        const ofField = checker.getTypeOfSymbol(field);
        if (ofField !== undefined) waiting.push({ type: ofField, way: inner });
      }
    }
  }
  return found;
}

function literalsIn(symbol: ReturnType<Checker['getPropertyOfType']>, checker: Checker): string[] {
  const type = symbol && checker.getTypeOfSymbol(symbol);
  return type === undefined
    ? []
    : membersOfUnion(type).flatMap((one) => (one.isStringLiteralType() ? [one.value] : []));
}

interface Compiler {
  readonly api: API;
  /** Files that exist only for the compiler, by path. */
  readonly texts: Map<string, string>;
}

/** The worker's compiler: the suites share it, because most of its work is to read the packages. It ends with the worker. */
let shared: Compiler | undefined;

function compiler(): Compiler {
  if (shared !== undefined) return shared;
  const texts = new Map<string, string>();
  const isFolder = (path: string) => [...texts.keys()].some((text) => dirname(text) === path);
  const api = new API({
    cwd: projectRoot,
    fs: {
      readFile: (path) => texts.get(path),
      fileExists: (path) => (texts.has(path) ? true : undefined),
      directoryExists: (path) => (isFolder(path) ? true : undefined),
    },
  });
  // The package has no public function for this; without it jest in one process would wait for the compiler forever.
  (api as unknown as { client: { channel: { child: ChildProcess } } }).client.channel.child.unref();
  shared = { api, texts };
  return shared;
}

const membersOfUnion = (type: Type): readonly Type[] => (type.isUnionType() ? type.getTypes() : [type]);

function readTypes<Read>(
  imports: string,
  types: Readonly<Record<string, string>>,
  read: (type: Type, name: string, checker: Checker) => Read,
): Readonly<Record<string, Read>> {
  const names = Object.keys(types);
  const lines = names.map((name, place) => `export type T${place} = ${types[name]};`);
  const { api, texts } = compiler();
  // Nothing is written into this folder: both files exist only for the compiler.
  const folder = join(projectRoot, `installed-types-${texts.size}`);
  const [configPath, typesPath] = [join(folder, 'tsconfig.json'), join(folder, 'types.ts')];
  texts.set(configPath, JSON.stringify(config)).set(typesPath, `${imports}\n${lines.join('\n')}\n`);
  const project = api.updateSnapshot({ openProjects: [configPath] }).getProject(configPath);
  const source = project?.program.getSourceFile(typesPath);
  if (project === undefined || source === undefined) throw new Error('TypeScript has not opened the types');
  const faults = project.program.getSemanticDiagnostics(typesPath);
  if (faults.length > 0) throw new Error(`a type is not what it was: ${JSON.stringify(faults[0])}`);
  const { checker } = project;
  const module = checker.getSymbolAtLocation(source);
  const exports = new Map((module ? checker.getExportsOfModule(module) : []).map((one) => [one.name, one]));
  return Object.fromEntries(
    names.map((name, place) => {
      const symbol = exports.get(`T${place}`);
      if (symbol === undefined) throw new Error(`${name}: is not there`);
      const type = checker.getDeclaredTypeOfSymbol(symbol);
      return [name, read(type, name, checker)];
    }),
  );
}
