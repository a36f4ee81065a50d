// The console's page at /console and its files below: no key, nothing of the store. What the page shows it asks the
// management interface for, with the key that its user enters.
import { fail, okStatus } from '../../../shared/errors/index.ts';
import type { Endpoint } from '../../../shared/protocol/router/index.ts';
import { indexFile, type Page } from './page-folder.ts';

/** Nothing from elsewhere, no code or style inside the page, never in a frame. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const pageHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** The index names the others, so it must be the newest; a name of the others never gets another content. */
const cacheControl = (name: string): string =>
  name === indexFile ? 'no-cache' : 'public, max-age=31536000, immutable';

/** GET /console. */
export const serveConsole = (page: Page): Endpoint => servePageFile(page, () => indexFile);

/** GET /console/FILE. */
export const serveConsoleFile = (page: Page): Endpoint => servePageFile(page, ([name = '']) => name);

const servePageFile =
  (page: Page, nameOf: (pathParameters: readonly string[]) => string): Endpoint =>
  async (_request, { pathParameters }) => {
    const name = nameOf(pathParameters);
    const file = await page.read(name);
    if (file === undefined) {
      const message =
        name === indexFile ? 'The page of the console is not built: npm run build.' : 'The console has no such file.';
      throw fail('not_found', { message });
    }
    const headers = { 'content-type': file.contentType, 'cache-control': cacheControl(name), ...pageHeaders };
    return { status: okStatus, headers, body: file.text };
  };
