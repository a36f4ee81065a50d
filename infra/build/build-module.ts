// One file of a bundle, by esbuild: minified CommonJS with a source map beside it, in memory.
import { join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { onDemand } from './on-demand.ts';

/** Imported by a part of the SDK that no call here reaches. Bundled, it would wrap most of the SDK in lazy functions. */
const neverLoaded = '@smithy/core/event-streams';

const credentialChain = join(import.meta.dirname, 'bundled-credential-chain.ts');

export const buildModule = (sourceRoot: string, module: string, outfile: string) =>
  build({
    entryPoints: [join(sourceRoot, module)],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    // ES module sources first: CommonJS ones cannot be tree-shaken.
    mainFields: ['module', 'main'],
    alias: {
      '@aws-sdk/credential-providers': credentialChain,
      '@aws-sdk/credential-provider-node': credentialChain,
    },
    plugins: [dynamicImports(sourceRoot), oneLanguage],
    // As calls of `require`: Node's own import() of a built-in module loads every lazy part of it, 20 ms for node:http.
    supported: { 'dynamic-import': false },
    sourcemap: 'external',
    legalComments: 'external',
    metafile: true,
    write: false,
    logLevel: 'silent',
  });

/** Left as they are: of a module that is loaded on demand, as one of the file beside the bundle. */
const dynamicImports = (sourceRoot: string): Plugin => ({
  name: 'dynamic-imports',
  setup({ onResolve }) {
    onResolve({ filter: /^/ }, ({ kind, resolveDir, path }) => {
      if (kind !== 'dynamic-import') return undefined;
      if (path === neverLoaded) return { path, external: true };
      const module = relative(sourceRoot, join(resolveDir, path));
      const file = Object.keys(onDemand).find((name) => onDemand[name] === module);
      return file === undefined ? undefined : { path: `./${file}`, external: true };
    });
  },
});

/** A package that imports all of zod brings its messages in forty languages, half of its size. */
const oneLanguage: Plugin = {
  name: 'one-language',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};
