// `npm run build`: the bundles in dist/<name>/, exactly as the CDK app uploads them, or builds an image of them. CommonJS, because
// it starts faster than ESM. Source maps and size reports stay in dist/meta.
import { execFile } from 'node:child_process';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { environmentNames } from '../../shared/foundation/constants/index.ts';
import { definitions } from './definitions.ts';
import { type Bundle, writeBundles } from './write-bundles.ts';

/** Bound of one file of a function. 100 KB take some 4 ms to load. */
export const bundleMaxBytes = 672 * 1024;
/** Bound of a container's bundle, which contains every route and is loaded before it is called. Readers of each interface are in it. */
export const containerMaxBytes = 820 * 1024;
/** Ends a load that hangs. The bench measures how long loading takes. */
const loadTimeoutMs = 120_000;

/** Loading must not call anything: these sign nothing that anyone would accept. */
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

/** Loads a bundle as Lambda does, in a process of its own. Rejects when it does not load or offers nothing. */
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

/** The bundle's code file as `<name>/<file>`, and its size. */
const bundleFiles = ({ name, file, bytes, beside }: Bundle): [string, number][] =>
  Object.entries({ [basename(file)]: bytes, ...beside }).map(([path, size]) => [`${name}/${path}`, size]);

/** Builds and checks every bundle. Throws on the first that is too large or does not load. */
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
