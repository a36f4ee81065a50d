// Collects the licences of the code in a bundle. The licences are read from esbuild's report and are therefore as
// current as the bundle. A file next to each bundle contains them, because a bundle is passed on without its packages.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';

export const noticesFile = 'THIRD-PARTY-NOTICES.txt';

/**
 * Licences that allow this project to be redistributed under its own licence. A person must judge any other licence
 * first.
 */
const acceptedLicenses = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0', '0BSD'];

/** Text for packages that name a licence without including its text. */
const mitText = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** Lists of third-party code that a package contains, with the file of their terms. */
const listsOfOthers = [
  {
    input: 'shared/configuration/model-list/models.json',
    name: 'prices and bounds of models from LiteLLM (MIT)',
    terms: join(import.meta.dirname, '../../shared/configuration/model-list/LICENSE-litellm'),
  },
] as const;

/** Text of the Apache License, which is the license of this project too. */
const apacheFile = join(import.meta.dirname, '../../LICENSE');

interface PackageFile {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly author?: string | { readonly name?: string };
}

/**
 * Returns the notices of every package with code in the outputs. Throws for a package whose licence is unknown or not
 * accepted.
 */
export async function noticesOf(metafiles: readonly Metafile[]): Promise<string> {
  const folders = new Set(metafiles.flatMap(packageFolders));
  /** Most packages of a family bring the same text, which is written once. */
  const namesByText = new Map<string, Set<string>>();
  for (const folder of folders) {
    const packageFile = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as PackageFile;
    if (packageFile.license === undefined || !acceptedLicenses.includes(packageFile.license)) {
      throw new Error(
        `${packageFile.name} has the licence ${packageFile.license ?? 'none'}; accepted: ${acceptedLicenses.join(', ')}`,
      );
    }
    const text = await licenseText(folder, packageFile);
    const names = namesByText.get(text) ?? new Set();
    namesByText.set(text, names.add(`${packageFile.name} ${packageFile.version} (${packageFile.license})`));
  }
  const inputs = new Set(metafiles.flatMap(containedInputs));
  for (const { input, name, terms } of listsOfOthers) {
    if (![...inputs].some((path) => path.endsWith(input))) continue;
    namesByText.set((await readFile(terms, 'utf8')).trim(), new Set([name]));
  }
  const sections = [...namesByText].map(([text, names]) => `${[...names].toSorted().join('\n')}\n\n${text}\n`);
  return [
    'The code beside this file contains, whole or in part, these packages under these terms.\n',
    ...sections.toSorted(),
  ].join(`\n${'-'.repeat(80)}\n\n`);
}

/** Lists the files with code in the output; a file that was only read does not count. */
const containedInputs = ({ outputs }: Metafile): string[] =>
  Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput === 0 ? [] : [path])),
  );

/** Lists the folders of packages with code in the output. */
const packageFolders = (metafile: Metafile): string[] =>
  containedInputs(metafile).flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []);

async function licenseText(folder: string, { name, license, author }: PackageFile): Promise<string> {
  const files = (await readdir(folder)).filter((file) => /^(licen[cs]e|notice|copying|copyrightnotice)/i.test(file));
  const texts = await Promise.all(files.toSorted().map((file) => readFile(join(folder, file), 'utf8')));
  if (texts.length > 0) return texts.map((text) => text.replaceAll('\r\n', '\n').trim()).join('\n\n');
  const holder = (typeof author === 'string' ? author : author?.name) ?? `the authors of ${name}`;
  if (license === 'MIT') return `Copyright (c) ${holder}\n\n${mitText}`;
  if (license === 'Apache-2.0') return (await readFile(apacheFile, 'utf8')).trim();
  throw new Error(`${name} brings no text of its licence ${license}`);
}
