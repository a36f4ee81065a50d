// Tests that compare the gateway with types and catalogues of packages, the packages that they read, and a copy of the
// project in which some of these have another version.
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { projectRoot } from '../support/source-files.ts';

/** A test that reads what an installed package knows: its types, or a catalogue that its public part has not. */
const readsPackages = /support\/(installed-types|sdk-unions)\.ts'|from '@ai-sdk\/[\w-]+\/internal'/;
/** Packages of providers, their clients and conventions: their versions are those of the interfaces. */
const ofInterfaces =
  /^(openai|ai|cohere-ai|@anthropic-ai\/.+|@ai-sdk\/.+|@openai\/.+|@aws-sdk\/client-bedrock-runtime)$/;

/** Paths below the project. */
export function driftTests(): string[] {
  const folder = join(projectRoot, 'test');
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map(({ parentPath, name }) => relative(projectRoot, join(parentPath, name)))
    .filter((path) => readsPackages.test(readFileSync(join(projectRoot, path), 'utf8')))
    .sort();
}

/** Installed versions by name. */
export function interfacePackages(): ReadonlyMap<string, string> {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(
    readFileSync(join(projectRoot, 'package.json'), 'utf8'),
  ) as Readonly<Record<string, Readonly<Record<string, string>>>>;
  return new Map(Object.entries({ ...dependencies, ...devDependencies }).filter(([name]) => ofInterfaces.test(name)));
}

const copied = ['shared', 'functions', 'infra', 'test', 'package.json', 'tsconfig.json'];

/** `replaced`: folders of packages by name, each in place of the installed one. */
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
