// `npm run build`: the bundles in dist/<name>/, exactly as the CDK app uploads them, or builds an image of them: one index
// file, and beside it the files that it loads on demand, and whose code they contain. CommonJS, because it starts faster than
// ESM. Source maps and size reports stay in
// dist/meta.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Metafile } from 'esbuild';
import { environmentNames, rootPaths } from '../../shared/foundation/constants/index.ts';
import { servedDescription } from '../openapi/description/index.ts';
import { buildModule } from './build-module.ts';
import { noticesFile, noticesOf } from './notices.ts';
import { onDemand } from './on-demand.ts';
import { writePage } from './page.ts';

interface BundleDefinition {
  readonly entry: string;
  /** The bundled code. */
  readonly file: string;
  /** What else is uploaded beside it, by name. */
  readonly beside?: Readonly<Record<string, string>>;
  /** Files of the project that stand beside it, by name. */
  readonly copied?: Readonly<Record<string, string>>;
  /** Threads that its code starts, by the name under which it looks for them beside itself: their entries. */
  readonly workers?: Readonly<Record<string, string>>;
  /** Whether it serves the description of the interface, which then stands beside it. */
  readonly isDescribed?: boolean;
  /** Whether the console's page is uploaded in a folder beside it. */
  readonly hasPage?: boolean;
  /** Whether it exports a handler; else it binds an address by itself. */
  readonly exportsHandler: boolean;
}

/**
 * What Lambda loads, which takes `index.mjs` before `index.cjs`: only an ES module can be waited for while it loads. The
 * bundle itself calls nothing as it is loaded.
 */
const preparedHandler = {
  'index.mjs': `import bundle from './index.cjs';
await bundle.prepare();
export const { handler } = bundle;
`,
};

/** shared/protocol/json-schema/schema-workers.ts starts it. */
const schemaWorker = { 'schema-worker.cjs': 'shared/protocol/json-schema/schema-worker.ts' };

const definitions = {
  gateway: {
    entry: 'functions/gateway/handler.ts',
    file: 'index.cjs',
    beside: preparedHandler,
    workers: schemaWorker,
    isDescribed: true,
    exportsHandler: true,
  },
  models: {
    entry: 'functions/models/handler.ts',
    file: 'index.cjs',
    beside: preparedHandler,
    exportsHandler: true,
  },
  operator: {
    entry: 'functions/operator/handler.ts',
    file: 'index.cjs',
    beside: preparedHandler,
    hasPage: true,
    exportsHandler: true,
  },
  container: {
    entry: 'infra/container/main.ts',
    file: 'index.cjs',
    copied: { Dockerfile: 'infra/local/Dockerfile' },
    workers: schemaWorker,
    isDescribed: true,
    hasPage: true,
    exportsHandler: false,
  },
} as const satisfies Record<string, BundleDefinition>;

export type BundleName = keyof typeof definitions;
/** Those that answer invocations. */
export const functionNames = ['gateway', 'models', 'operator'] as const satisfies readonly BundleName[];
export const bundleNames = Object.keys(definitions) as BundleName[];
/** Where each file of a bundle starts, as a path in the sources. */
export const bundleEntries = Object.values<BundleDefinition>(definitions).flatMap(({ entry, workers = {} }) => [
  entry,
  ...Object.values(workers),
]);

/** Of one file of a function. Loading grows with size. */
export const bundleMaxBytes = 600 * 1024;
/** Of a container's, which holds every route and is loaded before it is called. */
export const containerMaxBytes = 800 * 1024;
/** Ends what hangs. How long loading takes is for the bench to show. */
const loadTimeoutMs = 120_000;

export interface Bundle {
  readonly name: BundleName;
  /** The bundled code. */
  readonly file: string;
  readonly bytes: number;
  /** Loaded on demand: name → bytes. */
  readonly beside: Readonly<Record<string, number>>;
  /** The files of its page: name → bytes, compressed. */
  readonly page: Readonly<Record<string, number>>;
}

/** Bundles one entry: `<sourceRoot>/<entry>` → `<outputRoot>/<name>/<file>`, with what it loads on demand. */
export const bundleFunction = async (
  sourceRoot: string,
  outputRoot: string,
  name: BundleName,
  built: BuiltModules = new Map(),
): Promise<Bundle> => {
  const folder = join(outputRoot, name);
  const {
    entry,
    file: fileName,
    beside = {},
    copied = {},
    workers = {},
    isDescribed = false,
    hasPage = false,
  }: BundleDefinition = definitions[name];
  await rm(folder, { recursive: true, force: true });
  const place = { sourceRoot, folder, meta: join(outputRoot, 'meta', name), built };
  const { bytes, loads, metafile } = await bundleFile(place, entry, fileName);
  const metafiles = [metafile];
  const besideBytes: Record<string, number> = {};
  // What is loaded on demand may load more.
  const wanted = new Set(loads);
  for (const file of wanted) {
    const module = onDemand[file];
    if (module === undefined) continue;
    const loaded = await bundleFile(place, module, file);
    besideBytes[file] = loaded.bytes;
    metafiles.push(loaded.metafile);
    for (const other of loaded.loads) wanted.add(other);
  }
  for (const [file, module] of Object.entries(workers)) {
    const worker = await bundleFile(place, module, file);
    besideBytes[file] = worker.bytes;
    metafiles.push(worker.metafile);
  }
  for (const [other, text] of Object.entries(beside)) await writeFile(join(folder, other), text);
  await writeFile(join(folder, noticesFile), await noticesOf(metafiles));
  for (const [other, source] of Object.entries(copied)) await copyFile(join(sourceRoot, source), join(folder, other));
  if (isDescribed) await writeFile(join(folder, rootPaths.openapi), servedDescription());
  const page = hasPage ? await writePage(sourceRoot, join(folder, 'page')) : {};
  return { name, file: join(folder, fileName), bytes, beside: besideBytes, page };
};

interface BundlePlace {
  readonly sourceRoot: string;
  readonly folder: string;
  readonly meta: string;
  readonly built: BuiltModules;
}

/** By module: several bundles load the same ones on demand, and each is built once. */
type BuiltModules = Map<string, ReturnType<typeof buildModule>>;

/** `loads`: the files beside it that it loads. */
async function bundleFile(
  { sourceRoot, folder, meta, built }: BundlePlace,
  module: string,
  fileName: string,
): Promise<{ bytes: number; loads: readonly string[]; metafile: Metafile }> {
  const building = built.get(module) ?? buildModule(sourceRoot, module, join(folder, fileName));
  built.set(module, building);
  const result = await building;
  let bytes = 0;
  for (const { path, contents } of result.outputFiles) {
    const isCode = basename(path) === fileName;
    const file = isCode ? join(folder, fileName) : join(meta, basename(path));
    if (isCode) bytes = contents.byteLength;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, contents);
  }
  await writeFile(join(meta, `${fileName}.metafile.json`), JSON.stringify(result.metafile));
  const imports = Object.values(result.metafile.outputs).flatMap((output) => output.imports);
  return { bytes, loads: imports.map(({ path }) => basename(path)), metafile: result.metafile };
}

/** Loading must not call anything: these sign nothing that anyone would accept. */
const noCredentials = { AWS_ACCESS_KEY_ID: 'none', AWS_SECRET_ACCESS_KEY: 'none' };

// What the Lambda runtime provides as a global, as far as loading a bundle touches it.
const handlerCheck = `
  globalThis.awslambda = { streamifyResponse: (handler) => handler, HttpResponseStream: { from: (stream) => stream } };
  const loaded = require(process.argv[1]);
  if (typeof loaded.handler !== 'function') throw new Error('it exports no handler');
  for (const file of process.argv.slice(2)) require(file);
  process.exit(0);
`;

/** Binding an address would be a test of this machine, so it counts as done. */
const serverCheck = `
  require('node:net').Server.prototype.listen = () => process.exit(0);
  process.on('beforeExit', () => { throw new Error('it binds no address'); });
  require(process.argv[1]);
`;

/** Loads a bundle as Lambda does, in a process of its own. Rejects when it does not load or offers nothing. */
export const checkBundle = async ({ name, file, beside }: Bundle): Promise<void> => {
  const env = {
    [environmentNames.stage]: 'build',
    AWS_REGION: 'us-east-1',
    ...noCredentials,
  };
  const check = definitions[name].exportsHandler ? handlerCheck : serverCheck;
  const files = [file, ...Object.keys(beside).map((name) => join(dirname(file), name))];
  const loading = promisify(execFile)(process.execPath, ['--eval', check, ...files], { env, timeout: loadTimeoutMs });
  await loading.catch((error: { stderr?: string }) => {
    const cause = error.stderr?.match(/^\w*Error.*$/m)?.[0] ?? `it took longer than ${loadTimeoutMs} ms`;
    throw new Error(`${file} does not load: ${cause}`, { cause: error });
  });
};

/** Its code: `<name>/<file>` and its size. */
const bundleFiles = ({ name, file, bytes, beside }: Bundle): [string, number][] =>
  Object.entries({ [basename(file)]: bytes, ...beside }).map(([own, size]) => [`${name}/${own}`, size]);

/** Builds and checks every bundle. Throws on the first that is too large or does not load. */
export const buildBundles = async (sourceRoot: string, outputRoot: string): Promise<Bundle[]> => {
  const built: BuiltModules = new Map();
  const bundles = await Promise.all(bundleNames.map((name) => bundleFunction(sourceRoot, outputRoot, name, built)));
  for (const bundle of bundles) {
    const maxBytes = bundle.name === 'container' ? containerMaxBytes : bundleMaxBytes;
    for (const [file, bytes] of bundleFiles(bundle)) {
      if (bytes > maxBytes) {
        throw new Error(`${file} has ${bytes} bytes, ${maxBytes} are allowed; see dist/meta for why`);
      }
    }
    await checkBundle(bundle);
  }
  return bundles;
};

if (import.meta.main) {
  const projectRoot = resolve(import.meta.dirname, '../..');
  try {
    const inKilobytes = (bytes: number) => `${(bytes / 1024).toFixed(1)} KB`;
    for (const bundle of await buildBundles(projectRoot, join(projectRoot, 'dist'))) {
      for (const [file, bytes] of bundleFiles(bundle)) process.stdout.write(`dist/${file}  ${inKilobytes(bytes)}\n`);
      for (const [file, bytes] of Object.entries(bundle.page)) {
        process.stdout.write(`dist/${bundle.name}/page/${file}  ${inKilobytes(bytes)} compressed\n`);
      }
    }
  } catch (error) {
    process.stderr.write(`build failed: ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}
