// The console's page at /console and its files below: no key, nothing of the store. What the page shows it asks the
// management interface for, with the key that its user enters.
import { fail, okStatus } from '../../../shared/errors/index.ts';
import type { Endpoint } from '../../../shared/protocol/router/index.ts';
import { indexFile, type Page, type PageFile } from './page-folder.ts';

/** Says where clients call: the page tries calls there. */
const settingsFile = 'settings.json';

/** Nothing from elsewhere, no code or style inside the page, never in a frame. */
const contentSecurityPolicy = ({ gatewayUrl }: Page): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src 'self'${gatewayUrl === undefined ? '' : ` ${new URL(gatewayUrl).origin}`}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const pageHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** The index names the others, so it must be the newest; a name of the others never gets another content. */
const cacheControl = (name: string): string =>
  name === indexFile || name === settingsFile ? 'no-cache' : 'public, max-age=31536000, immutable';

/** GET /console. */
export const serveConsole = (page: Page): Endpoint => servePageFile(page, () => indexFile);

/** GET /console/FILE. */
export const serveConsoleFile = (page: Page): Endpoint => servePageFile(page, ([name = '']) => name);

const readFileOf = (page: Page, name: string): Promise<PageFile | undefined> =>
  name === settingsFile ? Promise.resolve(settingsOf(page)) : page.read(name);

const settingsOf = ({ gatewayUrl }: Page): PageFile => ({
  contentType: 'application/json',
  text: JSON.stringify({ gateway_url: gatewayUrl ?? null }),
});

const servePageFile =
  (page: Page, nameOf: (pathParameters: readonly string[]) => string): Endpoint =>
  async (_request, { pathParameters }) => {
    const name = nameOf(pathParameters);
    const file = await readFileOf(page, name);
    if (file === undefined) {
      const message =
        name === indexFile ? 'The page of the console is not built: npm run build.' : 'The console has no such file.';
      throw fail('not_found', { message });
    }
    const headers = {
      'content-type': file.contentType,
      'cache-control': cacheControl(name),
      'content-security-policy': contentSecurityPolicy(page),
      ...pageHeaders,
    };
    return { status: okStatus, headers, body: file.text };
  };
