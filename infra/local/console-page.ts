// The console's page for a local run: built from its sources in memory when it is first asked for, so that it is never
// older than they are and nothing has to be built before a start.
import { join } from 'node:path';
import { type Page, pageFile } from '../../functions/operator/console/page-folder.ts';
import { once } from '../../shared/foundation/cache/index.ts';

const projectRoot = join(import.meta.dirname, '../..');

export function builtPage(): Page {
  const built = once(async () => (await import('../build/page.ts')).buildPage(projectRoot));
  return {
    async read(name) {
      const text = new Map(Object.entries(await built())).get(name);
      return text === undefined ? undefined : pageFile(name, text);
    },
  };
}
