// `npm run package`: writes dist/gw-VERSION.tgz, the program `gw` with everything that it loads and no package to
// install. The folder dist/package has the same files; the image `local` is made from it.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { rootPaths } from '../../shared/foundation/constants/index.ts';
import { servedDescription } from '../openapi/description/index.ts';
import { runScript } from '../run-script.ts';
import { clientVersion, oneLanguage } from './build-modules.ts';
import { noticesFile, noticesOf } from './notices.ts';
import { writePage } from './page.ts';

/** Maximum size of all files together, unpacked. */
const packageMaxBytes = 8 * 1024 * 1024;

/** Files that are started by name, in the folder of the code that starts them. */
const entries = {
  main: 'infra/cli/main.ts',
  'serving-process': 'infra/local/serving-process.ts',
  'checkpoint-worker': 'shared/storage/sqlite-store/checkpoint-worker.ts',
  'schema-worker': 'shared/protocol/json-schema/schema-worker.ts',
};
const copied = ['infra/cli/gw.cjs', 'infra/require-node.cjs', 'LICENSE', 'CHANGELOG.md'];
/** Builders that are not packaged, because the package contains their output. */
const madeBefore = ['../build/page.ts', '../openapi/description/index.ts'];
/** The image copies this folder as the folder of its volume; the packed file does not contain it. */
const imageData = 'data';
const dataText =
  'Data of a gateway: gw.sqlite (with its -wal and -shm), byok-master.key, and folders of stored bodies.\n';
/** Oldest version of Node that runs the package. require-node.cjs refuses older versions. */
const oldestNode = '22.18';

/** CommonJS packages call `require`, which an ES module does not have. */
const requireLine =
  "import { createRequire as gwCreateRequire } from 'node:module'; const require = gwCreateRequire(import.meta.url);";

interface ProjectFile {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
}

export interface Packed {
  readonly folder: string;
  /** The packed file. */
  readonly file: string;
  /** Size of all files in it, unpacked. */
  readonly bytes: number;
}

/** Writes the package. Throws if it is too large. */
export async function writePackage(sourceRoot: string, outputRoot: string): Promise<Packed> {
  const folder = join(outputRoot, 'package');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const { metafile } = await build({
    entryPoints: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(sourceRoot, path)])),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // Splitting makes each command load its own part alone.
    splitting: true,
    minify: true,
    platform: 'node',
    target: `node${oldestNode}`,
    format: 'esm',
    mainFields: ['module', 'main'],
    banner: { js: requireLine },
    external: madeBefore,
    plugins: [oneLanguage, clientVersion],
    legalComments: 'none',
    metafile: true,
    logLevel: 'silent',
  });
  await writePage(sourceRoot, join(folder, 'page'));
  await writeFile(join(folder, rootPaths.openapi), servedDescription());
  await writeFile(join(folder, noticesFile), await noticesOf([metafile]));
  await mkdir(join(folder, imageData));
  await writeFile(join(folder, imageData, 'README.txt'), dataText);
  for (const path of copied) await copyFile(join(sourceRoot, path), join(folder, basename(path)));
  const project = JSON.parse(await readFile(join(sourceRoot, 'package.json'), 'utf8')) as ProjectFile;
  await writeFile(join(folder, 'package.json'), packageFile(project));
  return pack(folder, outputRoot);
}

/** The package is `private`, because a release is a file, and the name on a registry may belong to another project. */
const packageFile = ({ name, version, description, license }: ProjectFile): string =>
  `${JSON.stringify(
    {
      ...{ name, version, description, license, private: true, type: 'module' },
      bin: { gw: 'gw.cjs' },
      files: ['*.cjs', '*.mjs', 'page', basename(rootPaths.openapi), 'CHANGELOG.md', noticesFile],
      engines: { node: `>=${oldestNode}` },
    },
    null,
    2,
  )}\n`;

async function pack(folder: string, outputRoot: string): Promise<Packed> {
  // npm itself writes the archive, because it knows what an installer requires; the same files give the same bytes.
  const words = ['pack', folder, '--pack-destination', outputRoot, '--json', '--ignore-scripts'];
  const { stdout } = await promisify(execFile)('npm', words, { shell: process.platform === 'win32' });
  const [packed] = JSON.parse(stdout) as [{ readonly filename: string; readonly unpackedSize: number }];
  const { filename, unpackedSize: bytes } = packed;
  if (bytes > packageMaxBytes) throw new Error(`the package has ${bytes} bytes, ${packageMaxBytes} are allowed`);
  return { folder, file: join(outputRoot, filename), bytes };
}

if (import.meta.main) {
  const projectRoot = resolve(import.meta.dirname, '../..');
  await runScript('package', async () => {
    const { file, bytes } = await writePackage(projectRoot, join(projectRoot, 'dist'));
    const inMegabytes = (count: number) => `${(count / 1024 / 1024).toFixed(1)} MB`;
    const { size } = await stat(file);
    process.stdout.write(`dist/${basename(file)}  ${inMegabytes(size)}, unpacked ${inMegabytes(bytes)}\n`);
  });
}
