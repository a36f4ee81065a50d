// Builds the files of the console's page. One script and one style contain everything that the page needs and are named
// by their content; the index names both.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { noticesFile, noticesOf } from './notices.ts';

const pageSources = 'functions/operator/page';
const entries = ['main.tsx', 'main.css', 'icon.svg'];
const indexFile = 'index.html';

/** Maximum size of all files together, compressed, so that a console opens at once on a slow connection too. */
export const pageMaxBytes = 150 * 1024;

/** Returns the content of each file by name. `sourceRoot` is the folder of the project. */
export async function buildPage(sourceRoot: string): Promise<Readonly<Record<string, string>>> {
  const sources = join(sourceRoot, pageSources);
  const { outputFiles, metafile } = await build({
    entryPoints: entries.map((entry) => join(sources, entry)),
    outdir: sources,
    entryNames: '[name]-[hash]',
    loader: { '.svg': 'copy' },
    // These options repeat compiler settings, which a container does not have.
    tsconfigRaw: { compilerOptions: { jsx: 'react-jsx', jsxImportSource: 'preact' } },
    bundle: true,
    minify: true,
    platform: 'browser',
    target: 'es2023',
    format: 'esm',
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  const files = Object.fromEntries(outputFiles.map(({ path, text }) => [basename(path), text]));
  const index = await readFile(join(sources, indexFile), 'utf8');
  return { ...files, [indexFile]: withHashes(index, Object.keys(files)), [noticesFile]: await noticesOf([metafile]) };
}

/** Writes names with hashes into the HTML: `/console/main.js` becomes `/console/main-4F5G6H7J.js`. */
const withHashes = (html: string, names: readonly string[]): string =>
  names.reduce((text, name) => text.replace(name.replace(/-[^-]+$/, '') + extname(name), name), html);

/** Returns the compressed size of each file. Throws if they are too large together. */
export async function writePage(sourceRoot: string, folder: string): Promise<Readonly<Record<string, number>>> {
  const files = Object.entries(await buildPage(sourceRoot));
  const sizes = files.map(([name, text]): [string, number] => [name, gzipSync(text).byteLength]);
  const bytes = sizes.reduce((sum, [, size]) => sum + size, 0);
  if (bytes > pageMaxBytes) {
    throw new Error(`the page of the console has ${bytes} bytes compressed, ${pageMaxBytes} are allowed`);
  }
  await mkdir(folder, { recursive: true });
  for (const [name, text] of files) await writeFile(join(folder, name), text);
  return Object.fromEntries(sizes);
}
