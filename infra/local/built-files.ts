// Build output for a local run, built from its sources in memory on first use: it is never older than they are, and
// nothing has to be built before a start.
import { join } from 'node:path';
import { type ConsolePage, pageFile } from '../../functions/operator/console/page-folder.ts';
import { once } from '../../shared/foundation/cache/index.ts';
import type { BuiltFiles } from '../container/routes.ts';

const projectRoot = join(import.meta.dirname, '../..');

const describeApi = once(async () => (await import('../openapi/description/index.ts')).servedDescription());

export const builtFiles = (): BuiltFiles => ({ page: builtPage(), describeApi });

export function builtPage(): ConsolePage {
  const built = once(async () => (await import('../build/page.ts')).buildPage(projectRoot));
  return {
    async read(name) {
      const text = new Map(Object.entries(await built())).get(name);
      return text === undefined ? undefined : pageFile(name, text);
    },
  };
}
