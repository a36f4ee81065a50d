// `npm run release -- v0.1.0`: writes the files of a release into dist/release, and its notes into
// dist/release-notes.md. It publishes nothing; .github/workflows/release.yml publishes the files.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { runScript } from '../run-script.ts';
import { noticesFile } from './notices.ts';
import { type Packed, writePackage } from './package.ts';

const checksumsFile = 'SHA256SUMS';
/** Maximum size of the bill of materials, because the lock file names more than a thousand packages. */
const sbomMaxBytes = 64 * 1024 * 1024;

interface ReleaseSources {
  readonly sourceRoot: string;
  readonly outputRoot: string;
  /** The text of CHANGELOG.md. */
  readonly changelog: string;
}

interface ReleaseFiles {
  readonly packed: Packed;
  /** Names of the files in dist/release. */
  readonly names: readonly string[];
}

/**
 * Writes the files of a release. Throws if the tag is not the version of package.json, or CHANGELOG.md has no section
 * on it.
 */
export async function writeRelease(tag: string, sources: ReleaseSources): Promise<ReleaseFiles> {
  const { sourceRoot, outputRoot, changelog } = sources;
  const { version } = JSON.parse(await readFile(join(sourceRoot, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  if (tag !== `v${version}`) throw new Error(`the tag ${tag} is not that of package.json, v${version}`);
  const notes = notesOf(changelog, version);
  const folder = join(outputRoot, 'release');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const packed = await writePackage(sourceRoot, outputRoot);
  await copyFile(packed.file, join(folder, basename(packed.file)));
  await copyFile(join(packed.folder, noticesFile), join(folder, noticesFile));
  const words = ['run', '--silent', 'sbom'];
  const options = { cwd: sourceRoot, maxBuffer: sbomMaxBytes, shell: process.platform === 'win32' };
  const { stdout } = await promisify(execFile)('npm', words, options);
  await writeFile(join(folder, `gw-${version}.cdx.json`), stdout);
  await writeFile(join(folder, checksumsFile), await checksums(folder));
  await writeFile(join(outputRoot, 'release-notes.md'), notes);
  return { packed, names: (await readdir(folder)).toSorted() };
}

/**
 * Returns the section of a version, without its heading. Throws if it is missing, or the version is not released yet.
 */
export function notesOf(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.split(/\s/, 1)[0] === version);
  const [heading = '', ...lines] = section?.split('\n') ?? [];
  const text = lines.join('\n').trim();
  if (text === '') throw new Error(`CHANGELOG.md has no section ${version}`);
  if (/not released/i.test(heading))
    throw new Error(`CHANGELOG.md says that ${version} is not released: write its day there`);
  return `${text}\n`;
}

/** Returns the checksums in the format that sha256sum writes, and checks with `--check`. */
async function checksums(folder: string): Promise<string> {
  const names = (await readdir(folder)).toSorted();
  const lines = await Promise.all(
    names.map(
      async (name) =>
        `${createHash('sha256')
          .update(await readFile(join(folder, name)))
          .digest('hex')}  ${name}\n`,
    ),
  );
  return lines.join('');
}

if (import.meta.main) {
  const sourceRoot = resolve(import.meta.dirname, '../..');
  const [tag = ''] = process.argv.slice(2);
  await runScript('release', async () => {
    const changelog = await readFile(join(sourceRoot, 'CHANGELOG.md'), 'utf8');
    const { names } = await writeRelease(tag, { sourceRoot, outputRoot: join(sourceRoot, 'dist'), changelog });
    for (const name of names) process.stdout.write(`dist/release/${name}\n`);
  });
}
