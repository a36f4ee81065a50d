// A provider does not return a stored response: the client's error, and how a stream of the response ends.
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { type ScriptedProvider, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';

let gateway: Harness;
let provider: ScriptedProvider;
let answer: (outgoing: ServerResponse) => void;
beforeAll(async () => {
  provider = await startScriptedProvider((outgoing) => answer(outgoing));
  gateway = await startHarness({
    models: { 'acme/model': [{ provider: 'acme', upstream: 'scripted' }] },
    providers: { acme: { base_url: provider.url, apis: ['responses'] } },
  });
  await gateway.composition.providerAffinity.remember(
    'team',
    { newIds: ['resp_1'] },
    { provider: 'acme', model: 'acme/model' },
  );
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});

const failing = (status: number, error: object, headers: Record<string, string> = {}) => {
  answer = (outgoing) => {
    outgoing.writeHead(status, { 'content-type': 'application/json', ...headers });
    outgoing.end(JSON.stringify({ error }));
  };
};
const read = (query = '') => gateway.get(`/responses/resp_1${query}`);

describe('a provider that refuses', () => {
  it.each<[number, object, number, string, string]>([
    [404, { message: 'Response not found' }, 404, 'not_found', 'acme does not know the response "resp_1"'],
    [400, { message: 'Unknown include: x' }, 400, 'invalid_request', 'The provider said: Unknown include: x'],
    [409, { message: 'It has ended' }, 400, 'invalid_request', 'The provider said: It has ended'],
    [
      401,
      { message: 'Bad key sk-1234567890abcdef' },
      502,
      'no_available_provider',
      "refused the gateway's own credentials",
    ],
    [429, { message: 'Slow down' }, 429, 'rate_limited', 'rate limited'],
    [500, { message: 'Broken' }, 502, 'no_available_provider', 'acme did not answer'],
  ])('with %d %j becomes %d %s, with nothing else of its words', async (status, error, expectedStatus, code, words) => {
    failing(status, error);
    const refusal = await expectError(await read(), expectedStatus, code);
    expect(refusal.message).toContain(words);
    expect(refusal.message).not.toContain('sk-1234567890abcdef');
    const line = gateway.logLines.filter((text) => text.includes('"attempt_failed"')).at(-1) ?? '';
    expect(JSON.parse(line)).toMatchObject({ provider: 'acme', status, workspace_id: 'team' });
  });

  it('says when to come back, if it does', async () => {
    failing(429, {}, { 'retry-after': '7' });
    expect((await read()).headers.get('retry-after')).toBe('7');
  });

  it('is asked no second time', async () => {
    failing(500, {});
    const before = provider.bodies.length;
    await (await read()).text();
    expect(provider.bodies.length - before).toBe(1);
  });
});

it('an answer that is no JSON object is no answer', async () => {
  answer = (outgoing) => outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
  await expectError(await read(), 502, 'no_available_provider');
});

it('an empty answer to DELETE says that the response is deleted', async () => {
  answer = (outgoing) => outgoing.writeHead(204).end();
  const response = await fetch(`${gateway.url}/responses/resp_1`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  expect(await response.json()).toEqual({ id: 'resp_1', object: 'response', deleted: true });
});

it('a request for a stream that is answered with JSON gets the JSON', async () => {
  answer = (outgoing) => sendJson(outgoing, '{"id":"resp_1","a":1.0}');
  const response = await read('?stream=true');
  expect([response.headers.get('content-type'), await response.text()]).toEqual([
    'application/json',
    '{"id":"resp_1","a":1.0}',
  ]);
});

describe('a stream', () => {
  const head = { 'content-type': 'text/event-stream' };
  const delta =
    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":4,"delta":"é"}\n\n';
  const completed =
    'event: response.completed\ndata: {"type":"response.completed","sequence_number":5,"response":{}}\n\n';
  const brokenEvents =
    'event: error\ndata: {"type":"error","code":"no_available_provider","message":"The stream broke off after its first output: the provider failed.","sequence_number":5}\n\n';

  it('comes as it is, comments and line ends too, wherever its bytes are cut', async () => {
    for (const text of [
      `: hello\n\n${delta}${completed}`,
      (delta + completed).replaceAll('\n', '\r\n'),
      completed.trimEnd(),
    ]) {
      const bytes = Buffer.from(text);
      for (let cut = 1; cut < bytes.length; cut += 1) {
        answer = (outgoing) => {
          outgoing.writeHead(200, head);
          outgoing.write(bytes.subarray(0, cut), () => outgoing.end(bytes.subarray(cut)));
        };
        expect(await (await read('?stream=true')).text()).toBe(text);
      }
    }
  });

  it('without any event is complete: nothing came after the one that was named', async () => {
    answer = (outgoing) => outgoing.writeHead(200, head).end();
    expect(await (await read('?stream=true&starting_after=5')).text()).toBe('');
  });

  it.each([': ping\n\n', 'data: [DONE]\n\n'])(
    'that has ended well gets no error for what comes after its end: %j',
    async (behind) => {
      const { promise: ended, resolve: sendRest } = Promise.withResolvers<void>();
      answer = (outgoing) => {
        outgoing.writeHead(200, head);
        outgoing.write(delta + completed);
        void ended.then(() => outgoing.end(behind));
      };
      const response = await read('?stream=true');
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      let relayedText = '';
      for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
        relayedText += part.value;
        if (relayedText.includes('response.completed')) sendRest();
      }
      expect(relayedText).toBe(delta + completed + behind);
    },
  );

  it.each<[string, string]>([
    ['ends without its own end', delta],
    ['ends within an event', `${delta}${completed.slice(0, 40)}`],
  ])('that %s ends with an error after the last whole event', async (_what, text) => {
    answer = (outgoing) => outgoing.writeHead(200, head).end(text);
    const relayedText = await (await read('?stream=true')).text();
    expect(relayedText.startsWith(delta)).toBe(true);
    expect(relayedText.endsWith(brokenEvents)).toBe(true);
  });

  it('whose connection breaks ends with an error after the last whole event', async () => {
    answer = (outgoing) => {
      outgoing.writeHead(200, head);
      outgoing.write(`${delta}data: {"type":`, () => outgoing.destroy());
    };
    expect(await (await read('?stream=true')).text()).toBe(delta + brokenEvents);
  });

  it('ends at the provider when its client leaves', async () => {
    const { promise: departure, resolve } = Promise.withResolvers<void>();
    answer = (outgoing) => {
      outgoing.on('close', resolve);
      outgoing.writeHead(200, head);
      outgoing.write(delta);
    };
    const controller = new AbortController();
    const response = await fetch(`${gateway.url}/responses/resp_1?stream=true`, {
      headers: { authorization: `Bearer ${gateway.key}` },
      signal: controller.signal,
    });
    await response.body?.getReader().read();
    controller.abort();
    await departure;
  });
});
