// The page at `/`: what a browser may load and run of it, and what its script does with a key. The script runs here in a
// context of its own, on as much of a document as it uses.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { pageFolder } from '../../functions/operator/console/page-folder.ts';
import { createOperatorGateway } from '../../functions/operator/routes.ts';
import { promptFunction } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { serveGateway } from '../support/serve-gateway.ts';

describe('the page at /', () => {
  let gateway: Harness;
  let html: string;
  let policy: string;
  beforeAll(async () => {
    gateway = await startHarness({
      models: {
        'acme/echo': [{ provider: 'acme', upstream: 'echo' }],
        'acme/broken': [
          {
            provider: 'acme',
            upstream: 'error-after-chunks:2',
            more: { input_price_per_million: '0.5', output_price_per_million: '12' },
          },
        ],
      },
      workspace: { functions: [promptFunction('label', 'acme/echo')] },
    });
    const page = await fetch(`${origin()}/`, { headers: { accept: 'text/html' } });
    html = await page.text();
    policy = page.headers.get('content-security-policy') ?? '';
  });
  afterAll(() => gateway.stop());

  const origin = () => new URL(gateway.url).origin;
  const inside = (tag: string) => new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(html)?.[1] ?? '';

  describe('the page', () => {
    it('may run and show nothing but its own script and style, and is small', () => {
      for (const [tag, directive] of [
        ['script', 'script-src'],
        ['style', 'style-src'],
      ] as const) {
        const hash = createHash('sha256').update(inside(tag)).digest('base64');
        expect(policy).toContain(`${directive} 'sha256-${hash}'`);
      }
      expect(policy).toMatch(/^default-src 'none'; /);
      expect(policy).toContain("connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(html).not.toMatch(/ on\w+=| style=| src=|https?:\/\//);
      expect(html.length).toBeLessThan(12_000);
    });

    it('has no link that needs a header', async () => {
      const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, path = '']) => path);
      expect(links).toEqual(['/openapi.json', '/health']);
      for (const path of links) {
        const response = await fetch(origin() + path);
        expect([path, response.status]).toEqual([path, 200]);
        await response.text();
      }
    });

    it('leads to the description of the interface, for the server that it came from', async () => {
      const response = await fetch(`${origin()}/openapi.json`);
      expect(response.headers.get('content-type')).toBe('application/json');
      const document = (await response.json()) as { openapi: string; servers: unknown; paths: object };
      expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: '/' }] });
      expect(Object.keys(document.paths)).toContain('/v1/chat/completions');
    });
  });

  /** As much of an element as the script uses. */
  class FakeElement {
    textContent = '';
    value = '';
    className = '';
    hidden = true;
    readonly dataset = {};
    children: FakeElement[] = [];
    get firstChild() {
      return this.children[0];
    }
    setAttribute() {}
    listener: ((event: object) => Promise<void>) | undefined;
    append(...added: FakeElement[]) {
      this.children.push(...added);
    }
    replaceChildren(...added: FakeElement[]) {
      this.children = added;
    }
    addEventListener(_event: string, listener: (event: object) => Promise<void>) {
      this.listener = listener;
    }
  }

  /** The page in a browser whose user has entered these values. */
  function openPage(values: Readonly<Record<string, string>>) {
    const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);
    const parts = new Map(ids.map((id) => [id, new FakeElement()]));
    const part = (id: string): FakeElement => {
      const found = parts.get(id);
      if (found === undefined) throw new Error(`the page has no ${id}`);
      return found;
    };
    for (const [id, value] of Object.entries({ model: 'auto', prompt: 'Hello', ...values })) part(id).value = value;
    const requests: string[] = [];
    const send = (path: string, options: RequestInit) => {
      requests.push(path);
      return fetch(origin() + path, options);
    };
    const document = { getElementById: part, createElement: () => new FakeElement() };
    const browser = { document, location: { origin: origin() }, fetch: send, TextDecoderStream, performance };
    runInContext(inside('script'), createContext(browser));
    const press = (id: string) => part(id).listener?.({ preventDefault: () => {} });
    return { part, press, requests };
  }

  describe('its script', () => {
    it('shows the base URLs, and asks nothing of the gateway without a key', async () => {
      const { part, press, requests } = openPage({});
      expect([part('openai-base').textContent, part('base').textContent]).toEqual([
        `${origin()}/openai/v1`,
        `${origin()}/v1`,
      ]);
      await press('list');
      await press('try');
      expect(part('status').textContent).toBe('Enter a key first: sk-gw-…');
      expect(requests).toEqual([]);
    });

    it('lists models and functions with a key', async () => {
      const { part, press } = openPage({ key: gateway.key });
      await press('list');
      const rows = part('models').children.map(({ children }) =>
        children.map(({ firstChild }) => firstChild?.textContent ?? ''),
      );
      expect(rows).toEqual([
        ['auto', '', '', '', '', ''],
        ['acme/echo', '128,000', '1.00', '2.00', 'yes', 'acme'],
        ['acme/broken', '128,000', '0.50', '12.00', 'yes', 'acme'],
        ['gw/function/label', '', '', '', '', ''],
      ]);
      expect(part('models-table').hidden).toBe(false);
      expect(part('status').textContent).toBe('4 models and functions.');
    });

    it.each(['acme/echo', 'gw/function/label'])(
      'shows the answer of %s, who gave it and what it cost',
      async (model) => {
        const { part, press } = openPage({ key: gateway.key, model, prompt: '<img src=x onerror=alert(1)>' });
        await press('try');
        expect(part('answer').textContent).toContain('simulated by the provider acme');
        expect(part('answer').children).toEqual([]);
        expect(part('status').textContent).toMatch(/^acme\/echo, at acme, 0\.\d+ USD, \d+\.\d s, id [0-9a-f-]{36}$/);
      },
    );

    it.each([
      ['a key that is wrong', { key: 'sk-gw-x' }, /^UNAUTHORIZED: What was sent as the API key does not have/],
      ['a model that is not there', { model: 'acme/ecko' }, /^unknown_model: .* Did you mean "acme\/echo"\?$/],
      ['a stream that broke', { model: 'acme/broken' }, /^no_available_provider: /],
    ])('shows code and message of %s', async (_title, values, message) => {
      const { part, press } = openPage({ key: gateway.key, ...values });
      await press('try');
      expect(part('status').textContent).toMatch(message);
    });

    it('says that the gateway could not be reached', async () => {
      const { part, press } = openPage({ key: 'a key with\na line feed' });
      await press('try');
      expect(part('status').textContent).toMatch(/^The gateway could not be reached: /);
      expect((await gateway.post(hello('acme/echo'))).status).toBe(200);
    });
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
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
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

    it('writes text alone, as the page at / does: no source of theirs makes markup of a string', () => {
      const root = join(import.meta.dirname, '../..');
      const page = join(root, 'functions/operator/page');
      const sources = readdirSync(page, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
      expect(sources.length).toBeGreaterThan(50);
      const sinks =
        /innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|parseFromString|setHTML|srcdoc|document\.write/;
      const paths = [
        ...sources.map((name) => join(page, name)),
        join(root, 'shared/protocol/router/landing-script.ts'),
      ];
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
