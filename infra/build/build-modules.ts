// Builds the files of the bundles with esbuild, in memory, as minified CommonJS with a source map and a report of the
// contents. All files are built together, so that shared sources are read once.
import { readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { onDemand } from './on-demand.ts';

/**
 * No bundle reaches the part of the SDK that imports this module. In a bundle the module would wrap most of the SDK in
 * lazy functions.
 */
const neverLoaded = '@smithy/core/event-streams';

/** Parts of an interface that the API description and the page load, but no function. */
const otherToolsPath = /^\.\/(operation|playground)\.ts$/;

const credentialChain = join(import.meta.dirname, 'bundled-credential-chain.ts');

export interface BuiltModule {
  readonly code: Uint8Array;
  /** Files next to it, by the suffix of their names: `.map` and `.LEGAL.txt`. */
  readonly beside: ReadonlyMap<string, Uint8Array>;
  /** Report on this file alone. */
  readonly metafile: Metafile;
}

/**
 * Returns the built files by module, a path below `sourceRoot`. Source maps give paths relative to `folder`/modules/,
 * into which nothing is written. Rejects with esbuild's errors.
 */
export async function buildModules(
  sourceRoot: string,
  modules: readonly string[],
  folder: string,
): Promise<ReadonlyMap<string, BuiltModule>> {
  const outdir = join(folder, 'modules');
  const { outputFiles, metafile } = await build({
    entryPoints: modules.map((module, at) => ({ in: join(sourceRoot, module), out: String(at) })),
    outdir,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    // The order prefers ES module sources, because CommonJS sources cannot be tree-shaken.
    mainFields: ['module', 'main'],
    alias: {
      '@aws-sdk/credential-providers': credentialChain,
      '@aws-sdk/credential-provider-node': credentialChain,
    },
    plugins: [dynamicImports(sourceRoot), oneLanguage, clientVersion],
    // Dynamic imports become calls of `require`, because Node's own import() of a built-in module loads every lazy part
    // of the module, which takes 20 ms for node:http.
    supported: { 'dynamic-import': false },
    sourcemap: 'external',
    legalComments: 'external',
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  const contents = new Map(outputFiles.map((file) => [file.path, file.contents]));
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [resolve(path), { path, output }]));
  return new Map(
    modules.map((module, at): [string, BuiltModule] => {
      const file = join(outdir, `${at}.js`);
      const { path, output } = outputs.get(file) as { path: string; output: Metafile['outputs'][string] };
      const inputs = Object.entries(metafile.inputs).filter(([input]) => input in output.inputs);
      const beside = [...contents].filter(([other]) => other !== file && other.startsWith(file));
      return [
        module,
        {
          code: contents.get(file) as Uint8Array,
          beside: new Map(beside.map(([other, bytes]) => [other.slice(file.length), bytes])),
          metafile: { inputs: Object.fromEntries(inputs), outputs: { [path]: output } },
        },
      ];
    }),
  );
}

/** Leaves dynamic imports unchanged. Imports of on-demand modules become imports of the file next to the bundle. */
const dynamicImports = (sourceRoot: string): Plugin => ({
  name: 'dynamic-imports',
  setup({ onResolve }) {
    onResolve({ filter: /^/ }, ({ kind, resolveDir, path }) => {
      if (kind !== 'dynamic-import') return undefined;
      if (path === neverLoaded || otherToolsPath.test(path)) return { path, external: true };
      const module = relative(sourceRoot, join(resolveDir, path));
      const file = Object.keys(onDemand).find((name) => onDemand[name] === module);
      return file === undefined ? undefined : { path: `./${file}`, external: true };
    });
  },
});

/** A package that imports all of zod brings zod's messages in forty languages, half of its size. */
export const oneLanguage: Plugin = {
  name: 'one-language',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

/** A client of the SDK imports its package.json only for the version. */
export const clientVersion: Plugin = {
  name: 'client-version',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]@aws-sdk[\\/]client-[^\\/]+[\\/]package\.json$/ }, async ({ path }) => {
      const { version } = JSON.parse(await readFile(path, 'utf8')) as { version: string };
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
  },
};
