// Endpoints that need no key: a health check, and what a person sees who opens the base URL in a browser.
import { okStatus } from '../../errors/index.ts';
import type { GatewayRequest } from '../http/index.ts';
import { jsonHeaders } from './response-headers.ts';
import type { Endpoint } from './routes.ts';

/** Contract 1: no key, no store. */
export const serveHealth: Endpoint = async () => ({
  status: okStatus,
  headers: jsonHeaders,
  body: '{"status":"ok"}',
});

/** A browser gets a short page, anything else JSON. */
export const serveLanding: Endpoint = async (request) => {
  const origin = originOf(request);
  const baseUrls = { openai_base_url: `${origin}/openai/v1`, base_url: `${origin}/v1` };
  if (!(request.headers.accept?.join(',').includes('text/html') ?? false)) {
    return { status: okStatus, headers: jsonHeaders, body: JSON.stringify({ name: 'gw', ...baseUrls }) };
  }
  return { status: okStatus, headers: pageHeaders, body: pageOf(baseUrls.openai_base_url, baseUrls.base_url) };
};

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

const pageOf = (openAiBaseUrl: string, baseUrl: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>gw</title>
<h1>gw</h1>
<p>A gateway for large language models: one URL in the chat-completions format in front of every provider.</p>
<p>Base URL for OpenAI SDKs and frameworks: <code>${openAiBaseUrl}</code><br>
Base URL for everything else: <code>${baseUrl}</code></p>
<pre>curl ${baseUrl}/chat/completions -H "Authorization: Bearer $GW_API_KEY" \\
  -d '{"model": "auto", "messages": [{"role": "user", "content": "Hello"}]}'</pre>
<p><a href="${baseUrl}/models">Models</a> (with a key) · <a href="/health">Health</a></p>
</html>
`;

/** Only characters of a host and port: the value comes from the client and goes into a page. */
const hostShape = /^[A-Za-z0-9.:[\]-]{1,255}$/;

/** Behind the edge the Host header is not that of the client, so the address is left out there. */
function originOf({ headers }: GatewayRequest): string {
  const host = headers.host?.[0];
  if (host === undefined || !hostShape.test(host) || headers['x-gw-origin-secret'] !== undefined) return '';
  const isLocal = /^(localhost|127\.|\[::1\])/.test(host);
  return `${isLocal ? 'http' : 'https'}://${host}`;
}
