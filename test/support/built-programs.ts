// Programs of the project for processes that tests start. They are bundled once for all test files of a run, because a
// process that starts from sources spends most of its time loading some 800 files. Paths and texts are those of the
// sources. The tests that call npm show that the programs start from sources too.
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { clientVersion } from '../../infra/build/build-modules.ts';
import { builtOnce } from './built-once.ts';
import { projectRoot } from './source-files.ts';
import { runFolder } from './temporary-folder.ts';

/** Programs that are started by their names: by a test, or by a process that a test started. */
const entries = [
  'infra/cli/main.ts',
  'infra/local/main.ts',
  'infra/local/serving-process.ts',
  'infra/openapi/main.ts',
  'shared/protocol/json-schema/schema-worker.ts',
  'shared/storage/sqlite-store/checkpoint-worker.ts',
];

/** A file in the bundle gets its own path, as it would from Node; esbuild cannot be bundled. */
const sourcePaths: Plugin = {
  name: 'source-paths',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^esbuild$/ }, () => ({ path: import.meta.resolve('esbuild'), external: true }));
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (path.includes('node_modules')) return undefined;
      const values = {
        'import.meta.dirname': dirname(path),
        'import.meta.filename': path,
        'import.meta.url': pathToFileURL(path).href,
      };
      let contents = await readFile(path, 'utf8');
      for (const [name, value] of Object.entries(values)) contents = contents.replaceAll(name, JSON.stringify(value));
      return { contents, loader: 'ts' };
    });
  },
};

async function buildPrograms(): Promise<string> {
  const folder = join(runFolder(), 'programs');
  const outputOf = (entry: string): string => join(folder, entry.replace(/\.ts$/, '.mjs'));
  await build({
    entryPoints: entries.map((entry) => join(projectRoot, entry)),
    outbase: projectRoot,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    banner: {
      js: "import { createRequire as gwCreateRequire } from 'node:module'; const require = gwCreateRequire(import.meta.url);",
    },
    plugins: [sourcePaths, clientVersion],
    logLevel: 'silent',
  });
  const urls = entries.map((entry) =>
    [join(projectRoot, entry), outputOf(entry)].map((path) => pathToFileURL(path).href),
  );
  const hook = join(folder, 'start.cjs');
  await writeFile(
    hook,
    `const programs = ${JSON.stringify(Object.fromEntries(urls))};
require('node:module').registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    const url = programs[resolved.url];
    return url === undefined ? resolved : { ...resolved, url, format: 'module' };
  },
});
`,
  );
  return hook;
}

/**
 * Returns variables with which Node runs these programs, by their names in the sources, and caches the code that it
 * compiles for this run.
 */
export const builtPrograms = async (): Promise<Record<string, string>> => ({
  NODE_OPTIONS: `--require=${await builtOnce('programs', buildPrograms)}`,
  NODE_COMPILE_CACHE: join(runFolder(), 'compiled'),
});
