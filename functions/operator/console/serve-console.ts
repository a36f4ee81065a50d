// Serves the console's page at /console and its files below it, without a key and without reading the store. The page
// reads its data from the management interface, with the key that its user enters.
import { fail, okStatus } from '../../../shared/errors/index.ts';
import type { Endpoint } from '../../../shared/protocol/router/index.ts';
import type { IssuerEndpoints, SignIn } from '../sign-in/index.ts';
import { type ConsolePage, indexFile, noticesFile, type PageFile } from './page-folder.ts';

/** Name of the file with the URL that clients call and the endpoints at which people sign in. */
const settingsFile = 'settings.json';

/** Allows nothing from other hosts, no code or style inside the page, and no frame around it. */
const contentSecurityPolicy = ({ gatewayUrl }: ConsolePage, issuer: IssuerEndpoints | undefined): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    // The page shows images of clients and of the playground as data URLs.
    "img-src 'self' data:",
    ['connect-src', "'self'", ...originsOf([gatewayUrl, issuer?.token])].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const originsOf = (urls: readonly (string | undefined)[]): Set<string> =>
  new Set(urls.flatMap((url) => (url === undefined ? [] : [new URL(url).origin])));

const pageHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

const currentFiles = [indexFile, settingsFile, noticesFile];

/**
 * The index names the other files, so browsers must always load the newest. The content behind any other name never
 * changes.
 */
const cacheControl = (name: string): string =>
  currentFiles.includes(name) ? 'no-cache' : 'public, max-age=31536000, immutable';

/** Serves GET /console. */
export const serveConsole = (page: ConsolePage, signIn?: SignIn): Endpoint =>
  servePageFile(page, signIn, () => indexFile);

/** Serves GET /console/FILE. */
export const serveConsoleFile = (page: ConsolePage, signIn?: SignIn): Endpoint =>
  servePageFile(page, signIn, ([name = '']) => name);

/**
 * Returns the endpoints of the identity provider; undefined if this stage has no sign-in, or if the provider does not
 * answer now.
 */
const endpointsOf = (signIn: SignIn | undefined): Promise<IssuerEndpoints | undefined> =>
  signIn === undefined ? Promise.resolve(undefined) : signIn.endpoints().catch(() => undefined);

function settingsOf(
  { gatewayUrl }: ConsolePage,
  signIn: SignIn | undefined,
  issuer: IssuerEndpoints | undefined,
): PageFile {
  const sign_in = signIn && {
    issuer: signIn.settings.issuer,
    client_id: signIn.settings.clientId,
    // The endpoints are null if the provider does not answer. The page then shows this, and accepts an operator key.
    authorization_endpoint: issuer?.authorization ?? null,
    token_endpoint: issuer?.token ?? null,
    scope: issuer?.scope ?? null,
  };
  const text = JSON.stringify({ gateway_url: gatewayUrl ?? null, sign_in: sign_in ?? null });
  return { contentType: 'application/json', text };
}

const servePageFile =
  (page: ConsolePage, signIn: SignIn | undefined, nameOf: (pathParameters: readonly string[]) => string): Endpoint =>
  async (_request, { pathParameters }) => {
    const name = nameOf(pathParameters);
    const isPage = name === indexFile || name === settingsFile;
    const issuer = isPage ? await endpointsOf(signIn) : undefined;
    const file = name === settingsFile ? settingsOf(page, signIn, issuer) : await page.read(name);
    if (file === undefined) {
      const message =
        name === indexFile ? 'The page of the console is not built: npm run build.' : 'The console has no such file.';
      throw fail('not_found', { message });
    }
    const headers = {
      'content-type': file.contentType,
      'cache-control': cacheControl(name),
      'content-security-policy': contentSecurityPolicy(page, issuer),
      ...pageHeaders,
    };
    return { status: okStatus, headers, body: file.text };
  };
