// The page at `/`, on which a browser loads and runs nothing, and the console's page, on which it runs only the
// console's own files.
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { pageFolder } from '../../functions/operator/console/page-folder.ts';
import { createOperatorGateway } from '../../functions/operator/routes.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { serveGateway } from '../support/serve-gateway.ts';

describe('the page at /', () => {
  let gateway: Harness;
  beforeAll(async () => {
    gateway = await startHarness({ models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] } });
  });
  afterAll(() => gateway.stop());

  it('shows a browser both base URLs and a link to the playground, and may load and run nothing', async () => {
    const { origin } = new URL(gateway.url);
    const page = await fetch(`${origin}/`, { headers: { accept: 'text/html' } });
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    const html = await page.text();
    for (const path of ['/openai/v1', '/v1']) expect(html).toContain(`<code>${origin}${path}</code>`);
    expect(html).not.toMatch(/<script|<style| on\w+=| style=| src=/);
    const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, path = '']) => path);
    expect(links).toEqual(['/console?view=playground']);
    expect((await fetch(origin + links[0])).status).toBe(200);
  });

  it('takes no markup from the Host header of a client', async () => {
    const { port } = new URL(gateway.url);
    const clientRequest = request({ port, path: '/', headers: { accept: 'text/html', host: 'a"><script>b' } }).end();
    const [answer] = (await once(clientRequest, 'response')) as [IncomingMessage];
    const html = Buffer.concat(await answer.toArray()).toString();
    expect(html).not.toContain('script');
  });

  it('has the description of the interface beside it, for the server that it came from', async () => {
    const response = await fetch(`${new URL(gateway.url).origin}/openapi.json`);
    expect(response.headers.get('content-type')).toBe('application/json');
    const document = (await response.json()) as { openapi: string; servers: unknown; paths: object };
    expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: '/' }] });
    expect(Object.keys(document.paths)).toContain('/v1/chat/completions');
  });
});

describe('the console', () => {
  let gateway: Harness;
  beforeAll(async () => {
    gateway = await startHarness({ models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] } });
  });
  afterAll(() => gateway.stop());

  const send = (path: string, init: RequestInit = {}) => fetch(new URL(gateway.url).origin + path, init);

  describe('the page of the console', () => {
    it('is served without a key, with all its files, may load only these, and is never framed or sniffed', async () => {
      const files = ['app-0a1b2c3d.js', 'settings.json'].map((name) => `/console/${name}`);
      const indexes = ['/console', '/console/', '/console/index.html'];
      for (const path of [...indexes, ...files]) {
        const response = await send(path);
        expect([path, response.status]).toEqual([path, 200]);
        expect(Object.fromEntries(response.headers)).toMatchObject({
          'content-security-policy':
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
          'x-content-type-options': 'nosniff',
          'x-frame-options': 'DENY',
          'referrer-policy': 'no-referrer',
        });
        const text = await response.text();
        if (!indexes.includes(path)) continue;
        expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
        expect(response.headers.get('cache-control')).toBe('no-cache');
        expect(text).toContain('/console/app-0a1b2c3d.js');
      }
    });

    it('has files that a browser keeps, because their names change with their contents', async () => {
      const response = await send('/console/app-0a1b2c3d.js');
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
      expect(response.headers.get('cache-control')).toContain('immutable');
      expect(await response.text()).toBe('export const ready = true;\n');
    });

    it('writes text alone: no source of it makes markup of a string', () => {
      const page = join(import.meta.dirname, '../../functions/operator/page');
      const sources = readdirSync(page, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
      expect(sources.length).toBeGreaterThan(50);
      const sinks =
        /innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|parseFromString|setHTML|srcdoc|document\.write/;
      const paths = sources.map((name) => join(page, name));
      expect(paths.filter((path) => sinks.test(readFileSync(path, 'utf8')))).toEqual([]);
    });

    it.each([
      '/console/app-00000000.js',
      '/console/notes.txt',
      '/console/..%2Fharness.ts',
      '/console/%2e%2e/harness.ts',
      '/console/a/index.html',
      '/console/constructor',
      '/consoles',
    ])('answers not_found and shows nothing of the folder: %s', async (path) => {
      const response = await send(path);
      expect(response.status).toBe(404);
      expect(await response.text()).not.toMatch(/startHarness|not for browsers|support/);
    });

    it('may call where clients call, and no other place', async () => {
      const settings = await send('/console/settings.json');
      expect([settings.status, settings.headers.get('cache-control'), await settings.json()]).toEqual([
        200,
        'no-cache',
        { gateway_url: null, sign_in: null },
      ]);
      const gatewayUrl = 'https://abc.lambda-url.eu-west-1.on.aws/';
      const { composition } = gateway;
      const apart = await serveGateway(
        composition,
        createOperatorGateway(composition, pageFolder('nowhere', gatewayUrl)),
      );
      const response = await fetch(new URL('/console/settings.json', apart.url));
      expect(await response.json()).toEqual({ gateway_url: gatewayUrl, sign_in: null });
      expect(response.headers.get('content-security-policy')).toContain(
        "; connect-src 'self' https://abc.lambda-url.eu-west-1.on.aws; ",
      );
      await apart.close();
    });

    it('may be read by no page of another origin', async () => {
      const page = await send('/console', { headers: { origin: 'https://evil.example' } });
      const preflight = await send('/console', { method: 'OPTIONS', headers: { origin: 'https://evil.example' } });
      expect([page.status, preflight.status]).toEqual([200, 405]);
      expect(preflight.headers.get('allow')).toBe('GET, HEAD');
      for (const response of [page, preflight]) {
        expect([...response.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
        await response.text();
      }
    });
  });
});
