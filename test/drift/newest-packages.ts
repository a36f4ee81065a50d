// Finds the tests that compare the gateway with types and catalogues of packages, and the packages that they read, and
// copies the project with other versions of some packages.
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { projectRoot } from '../support/source-files.ts';

/** Matches a test that reads an installed package: its types, or a catalogue that its public entry does not export. */
const readsPackages = /support\/(installed-types|sdk-unions)\.ts'|from '@ai-sdk\/[\w-]+\/internal'/;
/** Matches packages of providers, their clients and conventions, whose versions are those of the interfaces. */
const ofInterfaces =
  /^(openai|ai|cohere-ai|@anthropic-ai\/.+|@ai-sdk\/.+|@openai\/.+|@aws-sdk\/client-bedrock-runtime)$/;

/** Returns paths relative to the project. */
export function driftTests(): string[] {
  const folder = join(projectRoot, 'test');
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map(({ parentPath, name }) => relative(projectRoot, join(parentPath, name)))
    .filter((path) => readsPackages.test(readFileSync(join(projectRoot, path), 'utf8')))
    .sort();
}

/** Returns the installed versions by name. */
export function interfacePackages(): ReadonlyMap<string, string> {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(
    readFileSync(join(projectRoot, 'package.json'), 'utf8'),
  ) as Readonly<Record<string, Readonly<Record<string, string>>>>;
  return new Map(Object.entries({ ...dependencies, ...devDependencies }).filter(([name]) => ofInterfaces.test(name)));
}

const copied = ['shared', 'functions', 'infra', 'test', 'package.json', 'tsconfig.json'];

/** Copies the project. `replaced` has folders of packages by name, each of which replaces the installed package. */
export function copyProject(
  to: string,
  replaced: ReadonlyMap<string, string>,
  parts: readonly string[] = copied,
): void {
  for (const part of parts) cpSync(join(projectRoot, part), join(to, part), { recursive: true });
  const installed = join(projectRoot, 'node_modules');
  for (const name of packagesIn(installed))
    link(replaced.get(name) ?? join(installed, name), join(to, 'node_modules', name));
}

function packagesIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    if (name.startsWith('.')) return name === '.bin' ? [name] : [];
    return name.startsWith('@') ? readdirSync(join(folder, name)).map((inner) => `${name}/${inner}`) : [name];
  });
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path, 'junction');
}
