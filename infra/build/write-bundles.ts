// The folders of the bundles: one index file each, and beside it the files that it loads on demand and whose code they contain.
import { existsSync } from 'node:fs';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { rootPaths } from '../../shared/foundation/constants/index.ts';
import { servedDescription } from '../openapi/description/index.ts';
import { type BuiltModule, buildModules } from './build-modules.ts';
import { type BundleDefinition, type BundleName, bundleNames, definitions, entriesOf } from './definitions.ts';
import { noticesFile, noticesOf } from './notices.ts';
import { onDemand } from './on-demand.ts';
import { writePage } from './page.ts';

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

/** Bundles `<sourceRoot>/<entry>` into `<outputRoot>/<name>/<file>`, each with its on-demand modules. */
export async function writeBundles(
  sourceRoot: string,
  outputRoot: string,
  names: readonly BundleName[] = bundleNames,
): Promise<Bundle[]> {
  const meta = join(outputRoot, 'meta');
  const entries = names.flatMap((name) => entriesOf(definitions[name]));
  // A missing file is reported where it is loaded.
  const loaded = Object.values(onDemand).filter((module) => existsSync(join(sourceRoot, module)));
  const built = await buildModules(sourceRoot, [...new Set([...entries, ...loaded])], meta);
  return Promise.all(
    names.map((name) =>
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
  // An on-demand module may load others, which the loop finds after it.
  for (const module of modules.values()) {
    for (const file of loadedBy(builtOf(built, module))) {
      const wanted = onDemand[file];
      if (wanted !== undefined) modules.set(file, wanted);
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

/** Names of files beside it. */
const loadedBy = ({ metafile }: BuiltModule): readonly string[] =>
  Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => basename(path)));

/** Gives the size of its code. */
async function writeModule({ code, beside, metafile }: BuiltModule, file: string, folder: string, meta: string) {
  await writeFile(join(folder, file), code);
  for (const [ending, contents] of beside) await writeFile(join(meta, file + ending), contents);
  await writeFile(join(meta, `${file}.metafile.json`), JSON.stringify(metafile));
  return code.byteLength;
}
