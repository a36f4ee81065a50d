// A file exports only names that another file of the source needs. Tests go through the front door; the few exports
// that tests alone need are pure rules that are worth a test of their own.
import { posix } from 'node:path';
import { describe, expect, it } from '#jest';
import { readSourceFiles, type SourceFile } from '../support/source-files.ts';

/** The number of exports that may exist for tests alone. It only becomes smaller. */
const forTestsMax = 59;

/** Files whose exports the platform or a bundler reads by their names. */
const entries = /(^|\/)handler\.ts$|^infra\/build\/(bundled-credential-chain|build-modules)\.ts$|\/project-copy\.ts$/;

const declared = /^export (?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/gm;
/** `named` matches an import or a re-export of names, `whole` an import or a re-export of everything. */
const namedImport = /\b(import|export)\s+(?:type\s+)?\{([^}]*)\}\s+from\s+'(\.[^']+)'/g;
const whole = /(?:\*(?: as \w+)? from\s+|\bimport\()'(\.[^']+)'/g;

const keyOf = (path: string, name: string) => `${path} ${name}`;

/** Returns the path of an imported file, relative to the project. */
const resolve = (from: string, target: string): string => posix.join(posix.dirname(from), target);

function namesOf(list: string): readonly (readonly [name: string, alias: string])[] {
  const parts = list.split(',').map((part) => part.trim().replace(/^type /, ''));
  return parts.filter(Boolean).map((part) => {
    const [name = '', alias = name] = part.split(/ as /);
    return [name, alias] as const;
  });
}

/** Returns the exports that no other file imports, by their own path or through a re-export, as `path name`. */
function unusedExports(files: readonly Pick<SourceFile, 'path' | 'text'>[]): readonly string[] {
  const used = new Set<string>();
  const takenFiles = new Set<string>();
  const originOf = new Map<string, string>();
  for (const { path, text } of files) {
    for (const [, word, list = '', target = ''] of text.matchAll(namedImport)) {
      for (const [name, alias] of namesOf(list)) {
        const origin = keyOf(resolve(path, target), name);
        if (word === 'import') used.add(origin);
        else originOf.set(keyOf(path, alias), origin);
      }
    }
    for (const [, target = ''] of text.matchAll(whole)) takenFiles.add(resolve(path, target));
  }
  const isTaken = (key: string) => takenFiles.has(key.split(' ')[0] ?? '');
  for (const start of [...used, ...[...originOf.keys()].filter(isTaken)]) {
    for (let key: string | undefined = start; key !== undefined; key = originOf.get(key)) used.add(key);
  }
  const exportNames = files.flatMap(({ path, text }) =>
    [...text.matchAll(declared)].map(([, name = '']) => keyOf(path, name)),
  );
  const isUnused = (key: string) => !used.has(key) && !isTaken(key);
  // A re-export is the same export, so it is listed only if its origin is used.
  const again = [...originOf].filter(([key, origin]) => isUnused(key) && !isUnused(origin));
  return [...exportNames.filter(isUnused), ...again.map(([key]) => key)];
}

describe('an export', () => {
  const tests = readSourceFiles(['test']);

  it(`is imported by another file of the source: at most ${forTestsMax} are there for tests alone`, () => {
    const sources = readSourceFiles(['shared', 'functions', 'infra']);
    const unused = unusedExports(sources).filter((key) => !entries.test(key.split(' ')[0] ?? ''));
    const idle = new Set(unusedExports([...sources, ...tests]));
    expect(unused.filter((key) => idle.has(key))).toEqual([]);
    expect(unused.length).toBeLessThanOrEqual(forTestsMax);
  });

  it.each<[string, [path: string, text: string][], string[]]>([
    ['is none', [['a.ts', 'export const one = 1;']], ['a.ts one']],
    [
      'imports it',
      [
        ['a.ts', 'export type One = 1;'],
        ['b.ts', "import type { One } from './a.ts';"],
      ],
      [],
    ],
    [
      'imports it through a re-export under another name',
      [
        ['a.ts', 'export const one = 1;'],
        ['index.ts', "export { one as two } from './a.ts';"],
        ['b.ts', "import { two } from './index.ts';"],
      ],
      [],
    ],
    [
      're-exports it, and none imports that',
      [
        ['a.ts', 'export function one() {}'],
        ['index.ts', "export { one } from './a.ts';"],
      ],
      ['a.ts one'],
    ],
    [
      'imports it where it is, and its re-export is imported by none',
      [
        ['a.ts', 'export function one() {}'],
        ['b.ts', "import { one } from './a.ts';"],
        ['index.ts', "export { one } from './a.ts';"],
      ],
      ['index.ts one'],
    ],
    [
      'loads the whole file',
      [
        ['a.ts', 'export const one = 1;'],
        ['b.ts', "await import('./a.ts');"],
      ],
      [],
    ],
  ])('is found used or unused if another file %s', (_what, texts, unused) => {
    expect(unusedExports(texts.map(([path, text]) => ({ path, text })))).toEqual(unused);
  });
});
