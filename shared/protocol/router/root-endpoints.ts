// Serves endpoints without a key: a health check, and a page for a person who opens the base URL in a browser.
import { okStatus } from '../../errors/index.ts';
import { type GatewayRequest, schemeOf } from '../http/index.ts';
import type { Endpoint } from './route-table.ts';

/** Answers the health check, without a key and without the store. */
export const serveHealth: Endpoint = async () => ({
  status: okStatus,
  headers: jsonHeaders,
  body: '{"status":"ok"}',
});

/** Answers a browser with two lines and a link, any other client with JSON. */
export const serveLanding: Endpoint = (request) => {
  const origin = originOf(request);
  const baseUrls = { openai_base_url: `${origin}/openai/v1`, base_url: `${origin}/v1` };
  const isPage = request.headers.accept?.join(',').includes('text/html') ?? false;
  return Promise.resolve(
    isPage
      ? { status: okStatus, headers: pageHeaders, body: pageOf(baseUrls) }
      : { status: okStatus, headers: jsonHeaders, body: JSON.stringify({ name: 'gw', ...baseUrls }) },
  );
};

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

const pageOf = ({ openai_base_url: openAi, base_url: base }: Readonly<Record<string, string>>): string =>
  `<!doctype html>
<html lang="en">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>gw</title>
<main>
<h1>gw, a gateway for large language models</h1>
<p>Base URL for OpenAI's SDKs: <code>${openAi}</code>; for everything else: <code>${base}</code></p>
<p><a href="/console?view=playground">Playground</a></p>
</main>
</html>
`;

/** Matches characters of a host and port only, because the value comes from the client. */
const hostShape = /^[A-Za-z0-9.:[\]-]{1,255}$/;

/** Returns the gateway's address; undefined after the edge, which replaces the client's Host header. */
function originOf(request: GatewayRequest): string {
  const { headers } = request;
  const host = headers.host?.[0];
  if (host === undefined || !hostShape.test(host) || headers['x-gw-origin-secret'] !== undefined) return '';
  return `${schemeOf(request)}://${host}`;
}

/** Headers of an answer, which is for one workspace only, so that no cache in between may store it. */
export const jsonHeaders = { 'content-type': 'application/json', 'cache-control': 'private, no-store' } as const;

/** Headers that keep proxies from buffering or changing a stream. */
export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;
