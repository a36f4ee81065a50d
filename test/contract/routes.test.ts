import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { createGateway } from '../../functions/gateway/routes.ts';
import { routeNames } from '../../shared/configuration/management/index.ts';
import { routePaths } from '../../shared/foundation/constants/index.ts';
import { interfaceList } from '../../shared/protocol/interface-list/index.ts';
import { callGateway } from '../support/call-gateway.ts';
import { expectError, uuid } from '../support/expect-error.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { eventually } from '../support/watched-clock.ts';
import { description, differencesOf, operationOf } from './api-description.ts';

describe('the routes', () => {
  let gateway: Harness;

  beforeAll(async () => {
    gateway = await startHarness({ models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] } });
  });
  afterAll(async () => {
    await gateway.stop();
  });

  const origin = () => new URL(gateway.url).origin;
  const send = (method: string, path: string) =>
    fetch(origin() + path, { method, headers: { authorization: `Bearer ${gateway.key}` } });

  it.each([
    '/v1',
    '/v1/',
    '/v1/Models',
    '/v2/models',
    '/v1/chat/completions/x',
    '/openai/v2/models',
    '/openai/models',
    '/v1/%6dodels',
    '/v1/__proto__',
    '/constructor',
  ])('answer an unknown path with not_found, whatever the method: %s', async (path) => {
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const response = await send(method, path);
      if (/^(\/openai)?\/v1(\/|$)/.test(path)) await expectError(response, 404, 'not_found');
      else expect(await response.json()).toMatchObject({ error: { code: 'not_found' }, message: expect.any(String) });
      expect(response.status).toBe(404);
    }
  });

  it.each([
    ['GET', '/v1beta', 404, 'not_found', 'NOT_FOUND'],
    ['POST', '/v1beta/nope', 404, 'not_found', 'NOT_FOUND'],
    ['GET', '/v1beta/cachedContents', 404, 'not_found', 'NOT_FOUND'],
    ['DELETE', '/v1beta/models/acme/echo', 405, 'method_not_allowed', 'UNIMPLEMENTED'],
    ['POST', '/v1/v1beta/models', 405, 'method_not_allowed', 'UNIMPLEMENTED'],
    ['POST', '/v1beta/v1/models', 405, 'method_not_allowed', 'UNIMPLEMENTED'],
  ])(
    'tell an unknown path or method below /v1beta in the form of Google: %s %s',
    async (method, path, status, code, word) => {
      const response = await send(method, path);
      expect(response.status).toBe(status);
      const body = (await response.json()) as {
        readonly error: { readonly message: string; readonly details: object[] };
      };
      expect(body).toEqual({
        error: { code: status, message: expect.any(String), status: word, details: [expect.any(Object)] },
      });
      expect(body.error.details[0]).toEqual({
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: code,
        domain: 'gw',
        metadata: { correlation_id: response.headers.get('x-request-id') },
      });
      if (status === 404) expect(body.error.message).toContain('/v1beta/models/{model}');
    },
  );

  it.each([
    ['/anthropic/v1/messages', 'the address alone, without `/anthropic`'],
    ['/model/x/converse', 'ends in `/bedrock`'],
    ['/v1/model/x/converse', 'ends in `/bedrock`'],
    ['/inference-profiles', 'ends in `/bedrock`'],
    ['/gemini/v1beta/models/x:generateContent', "Google's clients is the address alone"],
  ])('tell a client of another vendor below a base URL that is not its own which one is: %s', async (path, words) => {
    const response = await send('POST', path);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain(words);
  });

  it.each([
    ['POST', '/bedrock/model/x/nope'],
    ['GET', '/bedrock/nope'],
    ['GET', '/bedrock'],
  ])('tell an unknown path below /bedrock in the form of AWS: %s %s', async (method, path) => {
    const response = await send(method, path);
    expect(response.status).toBe(404);
    expect(response.headers.get('x-amzn-errortype')).toBe('ResourceNotFoundException');
    expect(await response.json()).toMatchObject({ message: expect.any(String), code: 'not_found' });
  });

  it('read the description of the interface once for all who ask at the same time, and again if that failed', async () => {
    const reads: PromiseWithResolvers<string>[] = [];
    const read = () => {
      const reading = Promise.withResolvers<string>();
      reads.push(reading);
      return reading.promise;
    };
    const { composition } = gateway;
    const handle = createGateway(composition, read);
    const ask = () => {
      const arrivedAtMs = composition.clock.nowMs();
      return callGateway(handle, { method: 'GET', path: '/openapi.json', headers: {}, arrivedAtMs, body: Buffer.of() });
    };
    const refusals = [ask(), ask()];
    await eventually(() => reads.length > 0);
    reads[0]?.reject(new Error('the file cannot be read'));
    expect((await Promise.all(refusals)).map(({ status }) => status)).toEqual([500, 500]);
    const answers = [ask(), ask()];
    await eventually(() => reads.length > 1);
    reads[1]?.resolve('{}');
    expect((await Promise.all([...answers, ask()])).map(({ text }) => text)).toEqual(['{}', '{}', '{}']);
    expect(reads).toHaveLength(2);
  });

  it('are all described, with their methods, below exactly the base URLs that serve them', async () => {
    const patterns = [
      ...Object.values(routePaths).map((path) => `/v1${path.replace('**', '*')}`),
      ...routeNames.map((name) => `/v1/manage${name.split(' ')[1]?.replaceAll(/\{\w+\}/g, '*')}`),
      '/health',
    ];
    const servedPaths: string[] = [];
    for (const pattern of new Set(patterns)) {
      const { status, headers } = await send('PROPFIND', pattern.replaceAll('*', 'auto'));
      expect([pattern, status]).toEqual([pattern, 405]);
      const methods = (headers.get('allow') ?? '').split(', ').filter((one) => one !== 'HEAD' && one !== 'OPTIONS');
      servedPaths.push(...methods.map((method) => `${method} ${pattern}`));
    }
    const isOfClients = (route: string) => / \/(v1\/|health$)/.test(route);
    const descriptions = Object.entries(description.paths).flatMap(([path, item]) =>
      Object.keys(item)
        .filter((member) => !/^(x-|\$)/.test(member))
        .map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '*')}`),
    );
    expect(descriptions.filter(isOfClients).toSorted()).toEqual(servedPaths.filter(isOfClients).toSorted());
    expect(descriptions.length).toBeGreaterThan(6);
    for (const path of Object.keys(description.paths).filter((one) => one.startsWith('/openai/v1/'))) {
      const same = path.slice('/openai'.length);
      expect(description.paths[path]).toEqual({ $ref: `#/paths/${encodeURI(same.replaceAll('/', '~1'))}` });
      expect(description.paths[same]).toMatchObject({ 'x-gw-base-urls': ['/v1', '/openai/v1'] });
    }
    for (const [path, item] of Object.entries(description.paths)) {
      const bases = item['x-gw-base-urls'] as unknown as string[] | undefined;
      if (bases === undefined) continue;
      expect(`/openai${path}` in description.paths).toBe(bases.includes('/openai/v1'));
      for (const base of path.startsWith('/v1/') ? ['/v1', '/openai/v1'] : bases) {
        // A method that no path accepts gets 405 on a known path, and 404 elsewhere.
        const response = await send('PROPFIND', path.replace(/^\/v1(?=\/)/, base).replaceAll(/\{\w+\}/g, 'auto'));
        await response.text();
        expect([base, path, response.status]).toEqual([base, path, bases.includes(base) ? 405 : 404]);
      }
    }
  });

  it('are below both base URLs as the description says: every call of a model but Messages, and the list of models', () => {
    const { description: words } = description.info as { description: string };
    expect(words).toContain(
      'Every call of a model but Messages, and the list of models, is served below `/openai/v1` too',
    );
    const isBelowBoth = (path: string) => `/openai/v1${path}` in description.paths;
    // Paths of other vendors have base URLs of their own.
    const routes = Object.values(interfaceList).flatMap((listedInterface) => listedInterface.routes);
    const calledPaths = routes
      .filter(({ base, operation }) => base === 'all' || (base === '/v1' && operation === undefined))
      .map(({ path }) => path);
    const isOfMessages = (path: string) => path === routePaths.messages || path.startsWith(`${routePaths.messages}/`);
    expect(calledPaths.filter((path) => isBelowBoth(path) === isOfMessages(path))).toEqual([]);
    expect(calledPaths.filter((path) => !(`/v1${path}` in description.paths))).toEqual([]);
    expect([routePaths.models, routePaths.key, routePaths.credits].map(isBelowBoth)).toEqual([true, false, false]);
  });

  it('answer as they are described: one model, and the health of the process', async () => {
    for (const id of ['auto', 'acme/echo', 'acme/none']) {
      const operation = operationOf('GET', '/v1/models/{id}');
      expect(await differencesOf(operation, await send('GET', `/v1/models/${id}`))).toEqual([]);
    }
    expect(await differencesOf(operationOf('GET', '/health'), await fetch(`${origin()}/health`))).toEqual([]);
  });

  it('take repeated and trailing slashes for one path', async () => {
    for (const path of ['/v1/models/', '//v1///models', '/v1/models//?limit=1']) {
      const response = await send('GET', path);
      expect(response.status).toBe(200);
      await response.text();
    }
    const answer = await fetch(`${origin()}/v1//chat/completions/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify(hello('acme/echo')),
    });
    expect(answer.status).toBe(200);
    await answer.text();
  });

  it.each([
    ['GET', '/v1/chat/completions', 'POST'],
    ['HEAD', '/v1/chat/completions', 'POST'],
    ['PUT', '/v1/chat/completions', 'POST'],
    ['DELETE', '/v1/chat/completions', 'POST'],
    ['PATCH', '/v1/chat/completions', 'POST'],
    ['POST', '/v1/models', 'GET, HEAD'],
    ['DELETE', '/v1/models', 'GET, HEAD'],
  ])('answer another method with method_not_allowed and the ones that are: %s %s', async (method, path, allowed) => {
    const response = await send(method, path);
    if (method === 'HEAD') expect([response.status, await response.text()]).toEqual([405, '']);
    else {
      const { message } = await expectError(response, 405, 'method_not_allowed');
      expect(message).toContain(`It takes ${allowed}`);
    }
    expect(response.headers.get('allow')).toBe(`${allowed}, OPTIONS`);
  });

  it.each([
    ['/v1/chat/completion', 'Did you mean /v1/chat/completions?'],
    ['/openai/v1/mesages', 'Did you mean /v1/messages?'],
    ['/v1/nothing-like-it', 'A base URL must end in /openai/v1'],
    ['/v1/files', 'does not offer /files'],
    [`/${'x'.repeat(4_000)}`, 'or in /v1'],
  ])('tell an unknown path in one line of at most 200 characters what it may be: %s', async (path, words) => {
    const { message } = (await (await send('POST', path)).json()) as { message: string };
    expect(message).toContain(words);
    expect(message.length).toBeLessThanOrEqual(200);
    expect(message).not.toContain('\n');
  });

  it('show a browser a page with the base URLs, and anything else JSON', async () => {
    const page = await fetch(`${origin()}/`, { headers: { accept: 'text/html,*/*' } });
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await page.text()).toContain('/openai/v1');
    const json = await (await fetch(`${origin()}/`)).json();
    expect(json).toEqual({ name: 'gw', base_url: `${origin()}/v1`, openai_base_url: `${origin()}/openai/v1` });
  });

  it('answer HEAD as GET, without a body, with the key that GET needs', async () => {
    for (const [path, status] of [
      ['/', 200],
      ['/api/hello', 200],
      ['/health', 200],
      ['/openapi.json', 200],
      ['/v1/models', 200],
      ['/openai/v1/models/acme/echo', 200],
      ['/v1/key', 200],
      ['/v1/chat/completions', 405],
      ['/v1/nothing', 404],
    ] as const) {
      const response = await send('HEAD', path);
      expect([path, response.status]).toEqual([path, status]);
      expect(response.headers.get('x-request-id')).toMatch(uuid);
      expect(await response.text()).toBe('');
      const keyless = await fetch(origin() + path, { method: 'HEAD' });
      expect([path, keyless.status]).toEqual([path, /models|key/.test(path) ? 401 : status]);
    }
  });

  it.each([
    ['/v1/v1', '/v1'],
    ['/v1/v1/v1', '/v1'],
    ['/openai/v1/v1', '/openai/v1'],
    ['', '/openai/v1'],
  ])('understand a base URL that has a part too many or too few: "%s" is %s', async (base, understood) => {
    const post = async (path: string, body: object) => {
      const headers = { authorization: `Bearer ${gateway.key}` };
      const response = await fetch(origin() + path, { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    const chat = await post(`${base}/chat/completions`, hello('acme/echo'));
    expect(chat).toMatchObject({ status: 200, body: { object: 'chat.completion' } });
    const refusal = await post(`${base}/chat/completions`, hello('acme/none'));
    const code = understood === '/v1' ? 'unknown_model' : { code: 'unknown_model' };
    expect(refusal).toMatchObject({ status: 400, body: { error: code } });
    for (const path of ['/responses', '/embeddings']) {
      expect((await post(base + path, {})).status).toBe(400);
    }
    for (const path of ['/models', '/models/acme/echo']) expect((await send('GET', base + path)).status).toBe(200);
    const spokenByMessages = base === '' || understood === '/v1';
    for (const path of ['/messages', '/messages/count_tokens']) {
      const { status, body } = await post(base + path, {});
      expect([path, status, body.type]).toEqual(spokenByMessages ? [path, 400, 'error'] : [path, 404, undefined]);
    }
  });

  it.each(['/key', '/generation', '/credits', '/v1v1/models', '/openai/chat/completions', '/manage/keys'])(
    'answer no other path that lacks its base URL, and name both, in a form that every SDK shows: %s',
    async (path) => {
      const response = await send('POST', path);
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      expect([response.status, error.code]).toEqual([404, 'not_found']);
      expect(error.message).toMatch(/must end in \/openai\/v1 .* or in \/v1 /);
    },
  );

  it.each(['', '/v1', '/openai/v1', '/v1/manage'])(
    'answer no path below /functions that there is not, in the form of its clients: "%s"',
    async (base) => {
      for (const [method, path] of [
        ['POST', '/functions/x'],
        ['GET', '/functions/x/y/z/w'],
        ['POST', '/functions/team/greet/unknown'],
        ['DELETE', '/functions/team/greet/revisions/r1/x'],
      ] as const) {
        const response = await send(method, base + path);
        const body = (await response.json()) as { error: unknown; correlation_id?: string };
        const isEnvelope = base.startsWith('/v1');
        expect([path, response.status]).toEqual([path, 404]);
        expect(body).toMatchObject({
          error: isEnvelope ? 'not_found' : { code: 'not_found' },
          correlation_id: expect.stringMatching(uuid),
        });
        expect(response.headers.get('x-request-id')).toBe(body.correlation_id);
      }
    },
  );

  it.each([
    '/images/variations',
    '/audio/translations',
    '/completions',
    '/files',
    '/batches',
    '/messages/batches',
    '/vector_stores/vs_1/files',
    '/responses/resp_1/steps',
  ])('say by name what of other gateways there is not, and nothing of the base URL: %s', async (path) => {
    const [, first] = path.split('/');
    for (const base of ['/v1', '/openai/v1', '/v1/v1', '']) {
      const response = await send('POST', base + path);
      const text = await response.text();
      expect([base, response.status]).toEqual([base, 404]);
      expect(text).toMatch(new RegExp(`does not offer (this path below )?/${first}[, /]`));
      expect(text).not.toContain('must end in');
    }
  });

  it('take the whole URL of a client that believes us to be its proxy', async () => {
    const { port } = new URL(gateway.url);
    const outgoing = request({
      port,
      path: `${gateway.url}/models`,
      headers: { authorization: `Bearer ${gateway.key}` },
    });
    outgoing.end();
    const status = await new Promise((resolve) => {
      outgoing.once('response', (incoming) => void text(incoming).then(() => resolve(incoming.statusCode)));
    });
    expect(status).toBe(200);
  });

  it.each([
    ['/v1/chat/completions', 'POST, OPTIONS'],
    ['/v1/models', 'GET, OPTIONS'],
  ])('let browsers ask first, without a key: %s', async (path, methods) => {
    gateway.simulator.clear();
    const response = await fetch(origin() + path, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': methods.slice(0, 4),
        'access-control-request-headers': 'authorization, content-type, x-gw-trace-id',
      },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-methods')).toBe(methods);
    expect(response.headers.get('access-control-allow-headers')).toBe('Authorization, *');
    expect(response.headers.get('access-control-max-age')).toBe('86400');
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    await response.text();
    expect(gateway.simulator.calls).toHaveLength(0);
  });

  it('let browsers read every answer, errors and streams included', async () => {
    const answers = [
      await gateway.get('/models'),
      await gateway.get('/nothing'),
      await gateway.post('not JSON'),
      await gateway.post(hello('acme/echo')),
      await gateway.post(hello('acme/echo', { stream: true })),
      await fetch(`${gateway.url}/models`),
    ];
    for (const answer of answers) {
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-expose-headers')).toBe('*');
      expect(answer.headers.get('set-cookie')).toBeNull();
      await answer.text();
    }
  });

  it.each([
    ['a name that is not loopback', 'Host: gw.example\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}'],
    ['a head that is malformed', 'no header\r\n\r\n'],
    ['too many bytes of headers', `A: ${'a'.repeat(17 * 1024)}\r\n\r\n`],
    ['a body that is malformed', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n'],
  ])('refuse %s with one line, the trace of its client, and the form of its base URL', async (_name, rest) => {
    await gateway.settled();
    gateway.simulator.clear();
    const before = gateway.logLines.length;
    const forms = {
      '/v1/chat/completions': 'gateway',
      '/openai/v1/chat/completions': 'openai',
      '/v1/messages': 'messages',
    };
    for (const [path, form] of Object.entries(forms)) {
      const key = `Authorization: Bearer ${gateway.key}`;
      const requestText = `POST ${path} HTTP/1.1\r\n${key}\r\nX-Gw-Trace-Id: trace-1\r\n${rest}`;
      const [head = '', body = ''] = (await exchangeBytes(Number(new URL(origin()).port), requestText)).split(
        '\r\n\r\n',
      );
      await gateway.settled();
      expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
      expect(head).toMatch(/^access-control-allow-origin: \*$/im);
      expect(head).toMatch(/^x-gw-trace-id: trace-1$/im);
      const id = /^x-request-id: (.*)$/im.exec(head)?.[1];
      const ids = { correlation_id: id };
      expect(JSON.parse(body)).toMatchObject(
        {
          gateway: { error: 'invalid_request', ...ids },
          openai: { error: { code: 'invalid_request' }, ...ids },
          messages: { type: 'error', error_code: 'invalid_request', ...ids },
        }[form] ?? {},
      );
      const lines = gateway.logLines.slice(before).map((line) => JSON.parse(line) as Record<string, unknown>);
      const requests = lines.filter(({ event }) => event === 'request');
      expect(requests.at(-1)).toMatchObject({ correlation_id: id, trace_id: 'trace-1', status: 400, route: path });
    }
    expect(gateway.logLines.slice(before).filter((line) => line.includes('"event":"request"'))).toHaveLength(3);
    expect(gateway.simulator.calls).toHaveLength(0);
  });
});
