// `npm run build`: the Lambda bundles in dist/<name>/, exactly as the CDK app uploads them. CommonJS, because it starts
// faster than ESM. Source maps and size reports stay beside them in dist/meta, not inside.
import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, parse, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { environmentNames } from '../../shared/foundation/constants/index.ts';

interface BundleDefinition {
  readonly entry: string;
  /** The name under which Lambda looks for it. */
  readonly file: string;
  /** What else is uploaded beside it, by name. */
  readonly beside?: Readonly<Record<string, string>>;
  /** Files that its code loads on demand, by the name under which it looks for them beside itself: their entries. */
  readonly onDemand?: Readonly<Record<string, string>>;
  /** Whether it exports a handler; else it binds an address by itself. */
  readonly exportsHandler: boolean;
}

/** shared/protocol/json-schema/schema-workers.ts starts it. */
const schemaWorker = { 'schema-worker.cjs': 'shared/protocol/json-schema/schema-worker.ts' };

const definitions = {
  'chat-completions': {
    entry: 'functions/chat-completions/handler.ts',
    file: 'index.cjs',
    onDemand: schemaWorker,
    exportsHandler: true,
  },
  models: { entry: 'functions/models/handler.ts', file: 'index.cjs', exportsHandler: true },
  web: {
    entry: 'functions/chat-completions/web.ts',
    file: 'index.js',
    // What `.js` means is settled by the nearest package.json: on this machine that would be the project's own.
    beside: { 'package.json': '{"type":"commonjs"}\n' },
    onDemand: schemaWorker,
    exportsHandler: false,
  },
} as const satisfies Record<string, BundleDefinition>;

export type BundleName = keyof typeof definitions;
/** Those that answer invocations. */
export const functionNames = ['chat-completions', 'models'] as const satisfies readonly BundleName[];
export const bundleNames = Object.keys(definitions) as BundleName[];
/** Where each file of a bundle starts, as a path in the sources. */
export const bundleEntries = Object.values<BundleDefinition>(definitions).flatMap(({ entry, onDemand = {} }) => [
  entry,
  ...Object.values(onDemand),
]);

/** Loading grows with size: at 700 KB a cold start has lost what the bundled SDK had won. */
export const bundleMaxBytes = 700 * 1024;
/** A bundle that needs longer to load than Lambda's own init limit would never answer. */
const loadTimeoutMs = 10_000;

export interface Bundle {
  readonly name: BundleName;
  readonly file: string;
  readonly bytes: number;
}

/** Bundles one entry and what it loads on demand: `<sourceRoot>/<entry>` → `<outputRoot>/<name>/<file>`. */
export const bundleFunction = async (sourceRoot: string, outputRoot: string, name: BundleName): Promise<Bundle> => {
  const folder = join(outputRoot, name);
  const { entry, file: fileName, beside = {}, onDemand = {} }: BundleDefinition = definitions[name];
  await rm(folder, { recursive: true, force: true });
  const meta = join(outputRoot, 'meta', name);
  let bytes = 0;
  for (const [file, from] of Object.entries({ [fileName]: entry, ...onDemand })) {
    const written = await bundleFile(join(sourceRoot, from), join(folder, file), meta);
    if (file === fileName) bytes = written;
  }
  for (const [other, text] of Object.entries(beside)) await writeFile(join(folder, other), text);
  return { name, file: join(folder, fileName), bytes };
};

/** Returns the size of the code. What is not code goes to `meta`. */
async function bundleFile(entry: string, outfile: string, meta: string): Promise<number> {
  const result = await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    // ES module sources first: CommonJS ones cannot be tree-shaken.
    mainFields: ['module', 'main'],
    sourcemap: 'external',
    legalComments: 'external',
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  let bytes = 0;
  for (const output of result.outputFiles) {
    const isCode = output.path === outfile;
    const file = isCode ? output.path : join(meta, basename(output.path));
    if (isCode) bytes = output.contents.byteLength;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, output.contents);
  }
  await writeFile(join(meta, `${parse(outfile).name}.json`), JSON.stringify(result.metafile));
  return bytes;
}

/** Loading must not call anything: these sign nothing that anyone would accept. */
const noCredentials = { AWS_ACCESS_KEY_ID: 'none', AWS_SECRET_ACCESS_KEY: 'none' };

// What the Lambda runtime provides as a global, as far as loading a bundle touches it.
const handlerCheck = `
  globalThis.awslambda = { streamifyResponse: (handler) => handler, HttpResponseStream: { from: (stream) => stream } };
  const loaded = require(process.argv[1]);
  if (typeof loaded.handler !== 'function') throw new Error('it exports no handler');
  process.exit(0);
`;

/** Binding an address would be a test of this machine, so it counts as done. */
const serverCheck = `
  require('node:net').Server.prototype.listen = () => process.exit(0);
  process.on('beforeExit', () => { throw new Error('it binds no address'); });
  require(process.argv[1]);
`;

/** Loads a bundle as Lambda does, in a process of its own. Rejects when it does not load or offers nothing. */
export const checkBundle = async ({ name, file }: Bundle): Promise<void> => {
  const env = {
    [environmentNames.stage]: 'build',
    AWS_REGION: 'us-east-1',
    AWS_LAMBDA_HTTP_ENDPOINT: '127.0.0.1:8080',
    ...noCredentials,
  };
  const check = definitions[name].exportsHandler ? handlerCheck : serverCheck;
  const loading = promisify(execFile)(process.execPath, ['--eval', check, file], { env, timeout: loadTimeoutMs });
  await loading.catch((error: { stderr?: string }) => {
    const cause = error.stderr?.match(/^\w*Error.*$/m)?.[0] ?? `it took longer than ${loadTimeoutMs} ms`;
    throw new Error(`${file} does not load: ${cause}`, { cause: error });
  });
};

/** Builds and checks every bundle. Throws on the first that is too large or does not load. */
export const buildBundles = async (sourceRoot: string, outputRoot: string): Promise<Bundle[]> => {
  const bundles = await Promise.all(bundleNames.map((name) => bundleFunction(sourceRoot, outputRoot, name)));
  for (const bundle of bundles) {
    if (bundle.bytes > bundleMaxBytes) {
      throw new Error(`${bundle.name} has ${bundle.bytes} bytes, ${bundleMaxBytes} are allowed; see dist/meta for why`);
    }
    await checkBundle(bundle);
  }
  return bundles;
};

if (import.meta.main) {
  const projectRoot = resolve(import.meta.dirname, '../..');
  try {
    for (const { file, bytes } of await buildBundles(projectRoot, join(projectRoot, 'dist'))) {
      process.stdout.write(`${file.slice(projectRoot.length + 1)}  ${(bytes / 1024).toFixed(1)} KB\n`);
    }
  } catch (error) {
    process.stderr.write(`build failed: ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}
