// `npm run build`: writes the bundles into dist/<name>/, exactly as the CDK app uploads them or builds an image of
// them. The bundles are CommonJS, because CommonJS starts faster than ESM. Source maps and size reports stay in
// dist/meta.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { environmentNames, loadFailed, rootPaths } from '../../shared/foundation/constants/index.ts';
import { servedDescription } from '../openapi/description/index.ts';
import { type BuiltModule, buildModules } from './build-modules.ts';
import { noticesFile, noticesOf } from './notices.ts';
import { onDemand } from './on-demand.ts';
import { writePage } from './page.ts';

/**
 * Entry file of a function. Lambda prefers `index.mjs` to `index.cjs`, and only an ES module can be awaited while it
 * loads. The bundle itself calls nothing when it is loaded. A load that fails writes a line, because Lambda's own lines
 * do not name the version that failed.
 */
const preparedHandler = {
  'index.mjs': `const load = async () => {
  const { default: bundle } = await import('./index.cjs');
  await bundle.prepare();
  return bundle;
};
const { handler } = await load().catch((error) => {
  const { GW_STAGE: stage, AWS_LAMBDA_FUNCTION_VERSION: version } = process.env;
  const line = { level: 'error', event: '${loadFailed}', stage, version, error: { name: error?.name, message: error?.message } };
  process.stdout.write(JSON.stringify(line) + '\\n');
  throw error;
});
export { handler };
`,
};

/** shared/protocol/json-schema/schema-workers.ts starts this file. */
const schemaWorker = { 'schema-worker.cjs': 'shared/protocol/json-schema/schema-worker.ts' };

export const definitions = {
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
    // A gateway file and a revision contain schemas; the first check of a process may take long.
    workers: schemaWorker,
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
const bundleNames = Object.keys(definitions) as BundleName[];
const entriesOf = ({ entry, workers = {} }: BundleDefinition): readonly string[] => [entry, ...Object.values(workers)];

/** Returns the names of the files next to a module. */
const loadedBy = ({ metafile }: BuiltModule): readonly string[] =>
  Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => basename(path)));

/** Maximum size of one file of a function. Loading 100 KB takes some 4 ms. */
export const bundleMaxBytes = 694 * 1024;
/**
 * Maximum size of a container's bundle, which contains every route and the readers of each interface, and is loaded
 * before it is called.
 */
export const containerMaxBytes = 840 * 1024;
/** Time limit that ends a load that hangs. The bench measures how long loading takes. */
const loadTimeoutMs = 120_000;

/** Loading must not call anything. No service accepts a signature that is made with these credentials. */
const noCredentials = { AWS_ACCESS_KEY_ID: 'none', AWS_SECRET_ACCESS_KEY: 'none' };

// Globals of the Lambda runtime that are used while a bundle loads.
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

/** Loads a bundle as Lambda does, in a process of its own. Rejects when it does not load or exports nothing. */
const checkBundle = async ({ name, file, beside }: Bundle): Promise<void> => {
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

/** Returns the bundle's code files as `<name>/<file>`, and their sizes. */
const bundleFiles = ({ name, file, bytes, beside }: Bundle): [string, number][] =>
  Object.entries({ [basename(file)]: bytes, ...beside }).map(([path, size]) => [`${name}/${path}`, size]);

/** Builds and checks every bundle. Throws on the first bundle that is too large or does not load. */
export const buildBundles = async (sourceRoot: string, outputRoot: string): Promise<Bundle[]> => {
  const bundles = await writeBundles(sourceRoot, outputRoot);
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

// Writes the folders of the bundles. Each folder has one index file, the files that the index loads on demand, and the
// notices of the contained code.

interface Bundle {
  readonly name: BundleName;
  /** The bundled code. */
  readonly file: string;
  readonly bytes: number;
  /** Sizes in bytes of the files that are loaded on demand, by name. */
  readonly beside: Readonly<Record<string, number>>;
  /** Compressed sizes in bytes of the files of its page, by name. */
  readonly page: Readonly<Record<string, number>>;
}

/** Bundles `<sourceRoot>/<entry>` into `<outputRoot>/<name>/<file>`, each with its on-demand modules. */
async function writeBundles(sourceRoot: string, outputRoot: string): Promise<Bundle[]> {
  const meta = join(outputRoot, 'meta');
  const entries = bundleNames.flatMap((name) => entriesOf(definitions[name]));
  // A missing file is reported where it is loaded.
  const loaded = Object.values(onDemand).filter((module) => existsSync(join(sourceRoot, module)));
  const built = await buildModules(sourceRoot, [...new Set([...entries, ...loaded])], meta);
  return Promise.all(
    bundleNames.map((name) =>
      writeBundle({ name, sourceRoot, folder: join(outputRoot, name), meta: join(meta, name), built }),
    ),
  );
}

interface BundlePlace {
  readonly name: BundleName;
  readonly sourceRoot: string;
  readonly folder: string;
  readonly meta: string;
  readonly built: ReadonlyMap<string, BuiltModule>;
}

async function writeBundle({ name, sourceRoot, folder, meta, built }: BundlePlace): Promise<Bundle> {
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
  await mkdir(folder, { recursive: true });
  await mkdir(meta, { recursive: true });
  const modules = new Map(Object.entries({ [fileName]: entry, ...workers }));
  // An on-demand module may load others, which the loop then reaches.
  for (const module of modules.values()) {
    for (const file of loadedBy(builtOf(built, module))) {
      const onDemandModules = onDemand[file];
      if (onDemandModules !== undefined) modules.set(file, onDemandModules);
    }
  }
  const bytes: Record<string, number> = {};
  for (const [file, module] of modules) bytes[file] = await writeModule(builtOf(built, module), file, folder, meta);
  for (const [other, text] of Object.entries(beside)) await writeFile(join(folder, other), text);
  const metafiles = [...modules.values()].map((module) => builtOf(built, module).metafile);
  await writeFile(join(folder, noticesFile), await noticesOf(metafiles));
  for (const [other, source] of Object.entries(copied)) await copyFile(join(sourceRoot, source), join(folder, other));
  if (isDescribed) await writeFile(join(folder, rootPaths.openapi), servedDescription());
  const page = hasPage ? await writePage(sourceRoot, join(folder, 'page')) : {};
  const { [fileName]: ownBytes = 0, ...besideBytes } = bytes;
  return { name, file: join(folder, fileName), bytes: ownBytes, beside: besideBytes, page };
}

function builtOf(built: BundlePlace['built'], module: string): BuiltModule {
  const found = built.get(module);
  if (found === undefined) throw new Error(`${module} is loaded on demand, and there is no such file`);
  return found;
}

/** Writes a module, and returns the size of its code. */
async function writeModule({ code, beside, metafile }: BuiltModule, file: string, folder: string, meta: string) {
  await writeFile(join(folder, file), code);
  for (const [ending, contents] of beside) await writeFile(join(meta, file + ending), contents);
  await writeFile(join(meta, `${file}.metafile.json`), JSON.stringify(metafile));
  return code.byteLength;
}

// Describes the deployed bundles: the entry file of each, and the files next to it.

interface BundleDefinition {
  readonly entry: string;
  /** The bundled code. */
  readonly file: string;
  /** Text of further uploaded files, by file name. */
  readonly beside?: Readonly<Record<string, string>>;
  /** Files of the project that are copied into the folder of the code, by name. */
  readonly copied?: Readonly<Record<string, string>>;
  /** Entry files of worker threads, by the name under which the code looks for them in its own folder. */
  readonly workers?: Readonly<Record<string, string>>;
  /** Whether the bundle serves the API description, which is then placed in its folder. */
  readonly isDescribed?: boolean;
  /** Whether the console's page is uploaded in a folder next to the code. */
  readonly hasPage?: boolean;
  /** Whether the bundle exports a handler; otherwise it binds an address itself. */
  readonly exportsHandler: boolean;
}

type BundleName = keyof typeof definitions;
/** Bundles that answer invocations. */
export const functionNames = ['gateway', 'models', 'operator'] as const satisfies readonly BundleName[];
/** Source path at which each file of a bundle starts. */
export const bundleEntries = Object.values<BundleDefinition>(definitions).flatMap(entriesOf);
