// The sources as the compiler sees them: paths, texts and what each file imports, types included.
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

export const projectRoot = join(import.meta.dirname, '../..');

export interface SourceFile {
  /** Path relative to the project, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** Paths of project files that it imports or re-exports. */
  readonly imports: readonly string[];
}

/**
 * Every syntax that names a module: import, export from, dynamic import. The formatter makes the formatting uniform.
 */
const importSign = /(?:\bfrom|\bimport)\s*\(?\s*'(\.{1,2}\/[^']+)'/g;

export function readSourceFiles(folders: readonly string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => readSourceFile(posix.join(folder, name))),
  );
}

/** Returns README.md and the pages of folders; by default of the folders that are shipped. */
export function readMarkdownFiles(folders: readonly string[] = ['shared', 'functions', 'infra']): SourceFile[] {
  const nested = folders.flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => posix.join(folder, name)),
  );
  return ['README.md', ...nested].map(readSourceFile);
}

function readSourceFile(path: string): SourceFile {
  const text = readFileSync(join(projectRoot, path), 'utf8');
  const imports = [...text.matchAll(importSign)].map(([, target = '']) => posix.join(posix.dirname(path), target));
  return { path, text, imports };
}
