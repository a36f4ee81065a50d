// Reads the files of the console's page as the build wrote them. All files are text in one folder, and have hashes of
// their contents as names, except for the index and the notices. Each file is read once.
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

export const indexFile = 'index.html';
/** Licences of the packages whose code the page's files contain. */
export const noticesFile = 'THIRD-PARTY-NOTICES.txt';

export interface PageFile {
  readonly contentType: string;
  readonly text: string;
}

export interface ConsolePage {
  /** URL that clients call; absent if clients call the page's own URL. */
  readonly gatewayUrl?: string | undefined;
  /** Returns undefined if there is no file of this name, or the file is not for browsers. */
  read(name: string): Promise<PageFile | undefined>;
}

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Returns undefined for a name that is not served to browsers. */
export function pageFile(name: string, text: string): PageFile | undefined {
  const contentType = name === noticesFile ? 'text/plain; charset=utf-8' : contentTypes[extname(name)];
  return contentType === undefined ? undefined : { contentType, text };
}

/**
 * Opens the folder. A folder that does not exist counts as empty. Files that are built into the folder later are found.
 */
export function pageFolder(folder: string, gatewayUrl?: string): ConsolePage {
  const files = new Map<string, PageFile>();
  return {
    gatewayUrl,
    async read(name) {
      const known = files.get(name);
      if (known !== undefined) return known;
      // Only a name in the listing is read, so that no name can lead out of the folder.
      if (!(await namesIn(folder)).includes(name)) return undefined;
      const file = pageFile(name, await readFile(join(folder, name), 'utf8'));
      if (file !== undefined) files.set(name, file);
      return file;
    },
  };
}

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
