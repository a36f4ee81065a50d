// Provides build output for a local run. A clone builds the output from its sources in memory on first use. The output
// is therefore never older than the sources, and nothing has to be built before a start. The package contains the
// output.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ConsolePage, pageFile, pageFolder } from '../../functions/operator/console/page-folder.ts';
import { once } from '../../shared/foundation/cache/index.ts';
import { isBundled, rootPaths } from '../../shared/foundation/constants/index.ts';
import type { BuiltFiles } from '../container/routes.ts';

const projectRoot = join(import.meta.dirname, '../..');

const describeApi = once(async () => (await import('../openapi/description/index.ts')).servedDescription());

export const builtFiles = (): BuiltFiles => (isBundled ? packagedFiles() : { page: builtPage(), describeApi });

/** Reads the files of the package, all of which are in one folder, the page in a folder below it. */
const packagedFiles = (): BuiltFiles => ({
  page: pageFolder(join(import.meta.dirname, 'page')),
  describeApi: () => readFile(join(import.meta.dirname, rootPaths.openapi), 'utf8'),
});

function builtPage(): ConsolePage {
  const built = once(async () => (await import('../build/page.ts')).buildPage(projectRoot));
  return {
    async read(name) {
      const text = new Map(Object.entries(await built())).get(name);
      return text === undefined ? undefined : pageFile(name, text);
    },
  };
}
