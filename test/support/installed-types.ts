// Unions in the types of installed packages, read by TypeScript itself: what a package knows of is what its own declarations say.
import { join } from 'node:path';
import { API } from 'typescript/unstable/sync';
import { projectRoot } from './source-files.ts';

/** Nothing is written: both files are there for the compiler alone. */
const folder = join(projectRoot, 'installed-types');
const configPath = join(folder, 'tsconfig.json');
const typesPath = join(folder, 'types.ts');
const config = {
  compilerOptions: { module: 'nodenext', target: 'esnext', strict: true, skipLibCheck: true, types: [] },
  files: ['types.ts'],
};

/**
 * The literals in each of these types, sorted. `imports`: the lines before them. Throws where a type holds none: a name that the
 * package has no more is no empty union.
 */
export function literalsOf(
  imports: string,
  types: Readonly<Record<string, string>>,
): Readonly<Record<string, readonly string[]>> {
  const names = Object.keys(types);
  const lines = names.map((name, place) => `export type T${place} = ${types[name]};`);
  const texts = new Map([
    [configPath, JSON.stringify(config)],
    [typesPath, `${imports}\n${lines.join('\n')}\n`],
  ]);
  const api = new API({
    cwd: projectRoot,
    fs: {
      readFile: (path) => texts.get(path),
      fileExists: (path) => (texts.has(path) ? true : undefined),
      directoryExists: (path) => (path === folder ? true : undefined),
    },
  });
  try {
    const project = api.updateSnapshot({ openProjects: [configPath] }).getProject(configPath);
    const source = project?.program.getSourceFile(typesPath);
    if (project === undefined || source === undefined) throw new Error('TypeScript has not opened the types');
    const faults = project.program.getSemanticDiagnostics(typesPath);
    if (faults.length > 0) throw new Error(`a type is not what it was: ${JSON.stringify(faults[0])}`);
    const { checker } = project;
    const module = checker.getSymbolAtLocation(source);
    const exported = new Map((module ? checker.getExportsOfModule(module) : []).map((one) => [one.name, one]));
    return Object.fromEntries(
      names.map((name, place) => {
        const symbol = exported.get(`T${place}`);
        if (symbol === undefined) throw new Error(`${name}: is not there`);
        const type = checker.getDeclaredTypeOfSymbol(symbol);
        const members = type.isUnionType() ? type.getTypes() : [type];
        const literals = members.flatMap((one) => (one.isStringLiteralType() ? [one.value] : []));
        if (literals.length === 0) throw new Error(`${name}: holds no literal`);
        return [name, literals.toSorted()];
      }),
    );
  } finally {
    api.close();
  }
}
