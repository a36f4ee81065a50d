// Guardrails on requests: every interface is checked before anything is reserved or a provider is called.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { newKey, promptFunction } from '../support/gateway-file.ts';
import { type Harness, hello, type ServedGateway, startHarness } from '../support/harness.ts';
import { type ScriptedGuardrail, startScriptedGuardrail } from '../support/scripted-guardrail.ts';

type Json = Record<string, unknown>;

/** Requests of each interface with a text in every place, and the texts that a guardrail has to see. */
const places = (
  word: string,
): readonly (readonly [name: string, path: string, body: Json, texts: readonly string[]])[] => [
  [
    'chat completions',
    '/chat/completions',
    {
      messages: [
        { role: 'system', content: 'S' },
        {
          role: 'user',
          name: 'U',
          content: [
            { type: 'text', text: `A ${word}` },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"q":"B"}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'C' },
      ],
      tools: [
        {
          type: 'function',
          function: {
            name: 'look',
            description: 'D',
            parameters: { type: 'object', properties: { q: { type: 'string', description: 'E' } }, required: ['q'] },
          },
        },
      ],
      tool_choice: 'none',
      metadata: { ticket: 'not a prompt' },
    },
    ['S', 'U', `A ${word}`, 'look', '{"q":"B"}', 'C', 'look', 'D', 'q', 'E', 'q'],
  ],
  [
    'Messages',
    '/messages',
    {
      max_tokens: 64,
      system: [{ type: 'text', text: 'S', cache_control: { type: 'ephemeral' } }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: `A ${word}` },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'F' } },
          ],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: { q: 'B' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'C' }] },
      ],
      tools: [{ name: 'look', description: 'D', input_schema: { type: 'object' } }],
    },
    ['S', `A ${word}`, 'F', 'look', '{"q":"B"}', 'C', 'look', 'D'],
  ],
  [
    'Responses',
    '/responses',
    {
      store: false,
      instructions: 'S',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: `A ${word}` }] },
        { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"q":"B"}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'C' },
      ],
      tools: [{ type: 'function', name: 'look', description: 'D', parameters: { type: 'object' }, strict: false }],
    },
    ['S', `A ${word}`, 'look', '{"q":"B"}', 'C', 'look', 'D'],
  ],
  ['Embeddings', '/embeddings', { input: ['S', `A ${word}`] }, ['S', `A ${word}`]],
];

describe('guardrails on input', () => {
  const keys = {
    ...{ stricter: newKey(), other: newKey(), open: newKey(), hasty: newKey(), hastyLenient: newKey() },
  };
  let guardrail: ScriptedGuardrail;
  let second: ScriptedGuardrail;
  let harness: Harness;

  beforeAll(async () => {
    process.env.GUARDRAIL_KEY = 'secret-of-words';
    guardrail = await startScriptedGuardrail();
    second = await startScriptedGuardrail();
    const rules = { kind: 'http', on: ['input'], timeout_ms: 20_000 };
    const routes = (upstream: string) => [{ provider: 'acme', upstream }];
    harness = await startHarness({
      models: {
        'acme/echo': routes('echo-request'),
        'acme/vectors': routes('echo'),
        ranker: [{ provider: 'ranker', upstream: 'echo' }],
        prompted: [
          { provider: 'prompts', upstream: 'echo-request', more: { supported_params: { extras: ['prompt'] } } },
        ],
      },
      providers: {
        acme: { apis: ['chat-completions', 'messages', 'responses', 'embeddings'] },
        ranker: { apis: ['rerank'] },
        prompts: { apis: ['responses'], shared_state: true },
      },
      guardrails: [
        { id: 'words', ...rules, url: guardrail.url, auth: { bearer: { env: 'GUARDRAIL_KEY' } } },
        { id: 'more', ...rules, url: second.url },
        { id: 'lenient', ...rules, url: second.url, on_failure: 'pass' },
        { id: 'hasty', ...rules, url: second.url, timeout_ms: 50 },
        { id: 'hasty-lenient', ...rules, url: second.url, timeout_ms: 50, on_failure: 'pass' },
      ],
      workspace: { guardrails: ['words'], functions: [promptFunction('ask', 'acme/echo')] },
      moreWorkspaces: [
        { id: 'lenient', credit_usd: '10', guardrails: ['lenient'], keys: [{ name: 'other', key: keys.other }] },
        {
          id: 'open',
          credit_usd: '10',
          keys: [
            { name: 'open', key: keys.open },
            { name: 'stricter', key: keys.stricter, guardrails: ['more'] },
            { name: 'hasty', key: keys.hasty, guardrails: ['hasty'] },
            { name: 'hasty-lenient', key: keys.hastyLenient, guardrails: ['hasty-lenient'] },
          ],
        },
      ],
    });
  });
  afterAll(async () => {
    delete process.env.GUARDRAIL_KEY;
    await harness.stop();
    await guardrail.stop();
    await second.stop();
  });
  beforeEach(() => {
    guardrail.clear();
    second.clear();
    harness.simulator.clear();
  });

  const by = (key: string) => ({ authorization: `Bearer ${key}` });
  const sentTexts = () => harness.simulator.calls.map(({ bodyText }) => bodyText);
  const modelOf = (path: string) => (path === '/embeddings' ? 'acme/vectors' : 'acme/echo');

  describe.each(places('x'))('%s', (_name, path, body, texts) => {
    it('are asked about every text of a conversation, and about nothing else', async () => {
      const answer = await harness.postTo(path, { model: modelOf(path), ...body });
      expect(answer.status).toBe(200);
      expect(guardrail.questions).toEqual([
        { id: 'words', call_id: answer.headers.get('x-request-id'), direction: 'input', texts },
      ]);
    });
  });

  describe.each(places('forbidden'))('%s', (_name, path, body) => {
    it('refuses what is blocked: no provider is called, nothing is reserved or charged', async () => {
      await harness.settled();
      const before = await harness.credit();
      const refusal = await harness.postTo(path, { model: modelOf(path), ...body });
      const { message } = await expectError(refusal, 400, 'invalid_request', { reason: 'content_policy_violation' });
      expect(message).toContain('words');
      expect(message).toContain('Not this word.');
      expect(sentTexts()).toEqual([]);
      expect(await harness.credit()).toEqual(before);
    });
  });

  describe.each(places('me@acme.io'))('%s', (_name, path, body) => {
    it('sends masked texts in place of the own, and changes no other byte', async () => {
      const text = JSON.stringify({ model: modelOf(path), ...body });
      const answer = await harness.postTo(path, text);
      expect(answer.status).toBe(200);
      const [upstream = ''] = sentTexts();
      expect(upstream).toContain('A [mail]');
      expect(upstream).not.toContain('me@acme.io');
      guardrail.answer(() => ({ action: 'pass' }));
      await harness.postTo(path, text.replace('me@acme.io', '[mail]'));
      expect(upstream).toBe(sentTexts()[1]);
    });
  });

  it('send their own credential, and nothing of the client that is no text', async () => {
    await harness.post(hello('acme/echo'), { 'x-gw-tags': 'team=search' });
    const [headers] = guardrail.headers;
    expect(headers).toMatchObject({ authorization: 'Bearer secret-of-words', 'user-agent': 'gw' });
    expect(JSON.stringify(headers)).not.toContain('search');
    expect(harness.logLines.join('')).not.toContain('secret-of-words');
  });

  it('check what a stored function is given, and its contract holds for masked texts too', async () => {
    const ask = (content: string) => harness.post({ model: 'gw/function/ask', messages: [{ role: 'user', content }] });
    const refusal = await ask('forbidden');
    await expectError(refusal, 400, 'invalid_request', { reason: 'content_policy_violation' });
    expect(sentTexts()).toEqual([]);
    expect((await ask('write to me@acme.io')).status).toBe(200);
    expect(sentTexts().join('')).toContain('write to [mail]');
    expect(sentTexts().join('')).not.toContain('me@acme.io');
  });

  it('block a mask inside the arguments of a tool call', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"to":"me@acme.io"}' } };
    const messages = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'done' },
    ];
    const refusal = await harness.post({ model: 'acme/echo', messages });
    await expectError(refusal, 400, 'invalid_request', { reason: 'content_policy_violation' });
    expect(sentTexts()).toEqual([]);
  });

  it('see through the escapes of arguments', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"q":"\\u0066orbidden"}' } };
    const messages = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'done' },
    ];
    expect((await harness.post({ model: 'acme/echo', messages })).status).toBe(400);
    expect(guardrail.questions[0]?.texts).toContain('{"q":"forbidden"}');
  });

  it('see every text of a document to be ranked, whatever its field is called', async () => {
    const fields = { name: 'A', url: 'B', usage: 'C', input: { id: 'D', type: 'base64', data: 'E' } };
    const ranked = await harness.postTo('/rerank', { model: 'ranker', query: 'Q', documents: [fields, { text: 'F' }] });
    expect([ranked.status, guardrail.questions.map(({ texts }) => texts)]).toEqual([
      200,
      [['Q', 'A', 'B', 'C', 'D', 'base64', 'E', 'F']],
    ]);
    const refusal = await harness.postTo('/rerank', {
      model: 'ranker',
      query: 'Q',
      documents: [{ name: 'forbidden' }],
    });
    await expectError(refusal, 400, 'invalid_request', { reason: 'content_policy_violation' });
    const masked = await harness.postTo('/rerank', {
      documents: [{ name: 'me@acme.io' }],
      query: 'Q',
      model: 'ranker',
    });
    expect([masked.status, sentTexts().map((text) => JSON.parse(text).documents)]).toEqual([
      200,
      [[fields, { text: 'F' }], [{ name: '[mail]' }]],
    ]);
  });

  it('see every text of a stored prompt’s variables, whatever they are called', async () => {
    const variables = {
      ...{ name: 'A', language: 'B', url: 'C', usage: 'D', id: ['E'] },
      ...{
        role: { type: 'input_text', text: 'F' },
        format: { type: 'input_image', image_url: 'data:image/png;base64,AA' },
      },
    };
    const promptOf = (variables: Json) => ({ id: 'pmpt_1', version: '2', variables });
    const ask = (variables: Json) =>
      harness.postTo('/responses', { model: 'prompted', store: false, input: 'Q', prompt: promptOf(variables) });
    expect((await ask(variables)).status).toBe(200);
    expect(guardrail.questions.map(({ texts }) => texts)).toEqual([['Q', 'A', 'B', 'C', 'D', 'E', 'F']]);
    harness.simulator.clear();
    await expectError(await ask({ name: 'forbidden' }), 400, 'invalid_request', { reason: 'content_policy_violation' });
    expect((await ask({ name: 'me@acme.io' })).status).toBe(200);
    expect(sentTexts().map((text) => JSON.parse(text).prompt)).toEqual([promptOf({ name: '[mail]' })]);
  });

  it('refuse embeddings of tokens, which no guardrail reads', async () => {
    const refusal = await harness.postTo('/embeddings', { model: 'acme/vectors', input: [[1, 2, 3]] });
    const { message } = await expectError(refusal, 400, 'invalid_request');
    expect(message).toContain('words');
    expect(guardrail.questions).toEqual([]);
    expect(sentTexts()).toEqual([]);
  });

  describe('of a key', () => {
    it('check its calls alone; other keys of the workspace are asked nothing', async () => {
      second.answer(() => ({ action: 'block', message: 'No.' }));
      expect((await harness.post(hello('acme/echo'), by(keys.stricter))).status).toBe(400);
      expect((await harness.post(hello('acme/echo'), by(keys.open))).status).toBe(200);
      expect(second.questions).toHaveLength(1);
    });
  });

  describe('without an answer', () => {
    const failures: readonly (readonly [string, Parameters<ScriptedGuardrail['answer']>[0]])[] = [
      ['answers with an error', () => (response) => void response.writeHead(500).end('{"action":"pass"}')],
      ['redirects', () => (response) => void response.writeHead(307, { location: second.url }).end()],
      ['is malformed', () => ({ action: 'maybe' })],
      ['is no JSON', () => (response) => void response.end('pass')],
      ['masks other texts than were asked about', () => ({ action: 'mask', texts: [] })],
      ['is endless', () => (response) => void response.end('x'.repeat(1024 * 1024))],
      ['breaks off', () => (response) => void response.destroy()],
    ];

    it.each(failures)('one that %s blocks: nothing passes, and the log names it', async (_name, answering) => {
      guardrail.answer(answering);
      const lines = harness.logLines.length;
      const refusal = await harness.post(hello('acme/echo'));
      const { message } = await expectError(refusal, 503, 'RATE_LIMITER_UNAVAILABLE');
      expect(message).toContain('words');
      expect(refusal.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(sentTexts()).toEqual([]);
      const failureLines = harness.logLines.slice(lines).filter((line) => line.includes('guardrail_failed'));
      expect(failureLines).toHaveLength(1);
      expect(failureLines[0]).toContain('"guardrail":"words"');
      expect(failureLines[0]).not.toContain('failed_control');
    });

    it.each(failures)('one that %s lets pass if the file says so', async (_name, answering) => {
      second.answer(answering);
      const lines = harness.logLines.length;
      expect((await harness.post(hello('acme/echo'), by(keys.other))).status).toBe(200);
      expect(sentTexts()).toHaveLength(1);
      const failureLines = harness.logLines.slice(lines).filter((line) => line.includes('guardrail_failed'));
      expect(failureLines).toEqual([expect.stringContaining('"failed_control":"guardrail"')]);
    });
  });

  describe('later than their timeout', () => {
    beforeEach(() => second.answer(() => new Promise(() => {})));

    it('block', async () => {
      const refusal = await harness.post(hello('acme/echo'), by(keys.hasty));
      await expectError(refusal, 503, 'RATE_LIMITER_UNAVAILABLE');
      expect(sentTexts()).toEqual([]);
    });

    it('let pass if the file says so', async () => {
      expect((await harness.post(hello('acme/echo'), by(keys.hastyLenient))).status).toBe(200);
      expect(sentTexts()).toHaveLength(1);
    });
  });

  describe('in the record of a call', () => {
    // A process writes only a few records of refused calls a second.
    let recording: ServedGateway;
    beforeEach(async () => {
      recording = await harness.open();
    });
    const checksOf = async (answer: Response) => {
      await answer.text();
      await recording.settled();
      const records = [...(await harness.records()), ...(await harness.records('lenient'))];
      return records.find(({ correlationId }) => correlationId === answer.headers.get('x-request-id'))?.guardrails;
    };
    const one = { id: 'words', direction: 'input', checks: 1, ms: expect.any(Number) };

    it('are what they decided and how long it took, and no text', async () => {
      const ask = (content: string) => recording.post({ model: 'acme/echo', messages: [{ role: 'user', content }] });
      expect(await checksOf(await ask('hello'))).toEqual([{ ...one, action: 'pass' }]);
      expect(await checksOf(await ask('me@acme.io'))).toEqual([{ ...one, action: 'mask' }]);
      const blocked = await ask('forbidden secret-word');
      expect(await checksOf(blocked)).toEqual([{ ...one, action: 'block' }]);
      expect(
        JSON.stringify(await harness.records(), (_name, value) => (typeof value === 'bigint' ? `${value}` : value)),
      ).not.toContain('secret-word');
      const id = blocked.headers.get('x-request-id');
      const shownRecord = (await (await recording.get(`/generation?id=${id}`)).json()) as { data: Json };
      expect(shownRecord.data.guardrails).toEqual([{ ...one, action: 'block' }]);
    });

    it('are there of one that failed, whether it blocked or let pass', async () => {
      guardrail.answer(() => ({}));
      second.answer(() => ({}));
      expect(await checksOf(await recording.post(hello('acme/echo')))).toEqual([{ ...one, action: 'failed' }]);
      const passedResponse = await recording.post(hello('acme/echo'), by(keys.other));
      expect(await checksOf(passedResponse)).toEqual([{ ...one, id: 'lenient', action: 'failed' }]);
    });
  });

  it('that the gateway file has lost block the calls that name them', async () => {
    const lostHarness = await startHarness({
      models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] },
      guardrails: [{ id: 'words', kind: 'http', url: guardrail.url }],
      workspace: { guardrails: ['words'] },
    });
    await lostHarness.apply({ models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] }, guardrails: [] });
    const other = await lostHarness.open();
    await expectError(await other.post(hello('acme/echo')), 503, 'RATE_LIMITER_UNAVAILABLE');
    expect(lostHarness.simulator.calls).toEqual([]);
    await lostHarness.stop();
  });

  describe('in the order of errors', () => {
    it('come after what is unsupported, and before price cap and credentials', async () => {
      const forbidden = [{ role: 'user', content: 'forbidden' }];
      const unknown = await harness.post({ model: 'acme/none', messages: forbidden });
      await expectError(unknown, 400, 'unknown_model');
      expect(guardrail.questions).toEqual([]);
      const capped = { provider: { max_price: 0.0001 } };
      await expectError(await harness.post({ ...hello('acme/echo'), ...capped }), 402, 'price_cap_exceeded');
      const both = await harness.post({ model: 'acme/echo', messages: forbidden, ...capped });
      await expectError(both, 400, 'invalid_request', { reason: 'content_policy_violation' });
    });

    it('come after an Idempotency-Key that is in use; a stored answer is given without asking again', async () => {
      const headers = { 'idempotency-key': 'one' };
      const first = await harness.post(hello('acme/echo'), headers);
      expect(first.status).toBe(200);
      const questionsBefore = guardrail.questions.length;
      const again = await harness.post(hello('acme/echo'), headers);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(await again.text()).toBe(await first.text());
      const other = { model: 'acme/echo', messages: [{ role: 'user', content: 'forbidden' }] };
      await expectError(await harness.post(other, headers), 409, 'idempotency_conflict');
      expect(guardrail.questions).toHaveLength(questionsBefore);
    });

    it('keep a stored answer from a key whose guardrails have not checked it', async () => {
      const headers = { 'idempotency-key': 'of-open' };
      expect((await harness.post(hello('acme/echo'), { ...headers, ...by(keys.open) })).status).toBe(200);
      const refusal = await harness.post(hello('acme/echo'), { ...headers, ...by(keys.stricter) });
      await expectError(refusal, 409, 'idempotency_conflict');
      const again = await harness.post(hello('acme/echo'), { ...headers, ...by(keys.open) });
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      const keyHeader = { 'idempotency-key': 'of-stricter' };
      expect((await harness.post(hello('acme/echo'), { ...keyHeader, ...by(keys.stricter) })).status).toBe(200);
      for (const key of [keys.open, keys.stricter]) {
        const replay = await harness.post(hello('acme/echo'), { ...keyHeader, ...by(key) });
        expect(replay.headers.get('idempotent-replayed')).toBe('true');
      }
    });

    it('are asked before money is reserved', async () => {
      const isAsked = Promise.withResolvers<void>();
      const mayPass = Promise.withResolvers<void>();
      guardrail.answer(async () => {
        isAsked.resolve();
        await mayPass.promise;
        return { action: 'pass' };
      });
      await harness.settled();
      const { held } = await harness.credit();
      const answering = harness.post(hello('acme/echo'));
      await isAsked.promise;
      expect((await harness.credit()).held).toEqual(held);
      expect(sentTexts()).toEqual([]);
      mayPass.resolve();
      expect((await answering).status).toBe(200);
    });
  });

  describe('beside the response cache', () => {
    const cached = { cache: { enabled: true } };

    it('are not asked for an answer that they have checked', async () => {
      const body = hello('acme/echo', { ...cached, seed: 1 });
      expect((await harness.post(body)).headers.get('x-gw-cache')).toBe('MISS');
      await harness.settled();
      const questionsBefore = guardrail.questions.length;
      expect((await harness.post(body)).headers.get('x-gw-cache')).toBe('HIT');
      expect(guardrail.questions).toHaveLength(questionsBefore);
    });

    it('keep answers apart from those that others, or none, have checked', async () => {
      const body = hello('acme/echo', { ...cached, seed: 2 });
      expect((await harness.post(body, by(keys.open))).headers.get('x-gw-cache')).toBe('MISS');
      await harness.settled();
      expect((await harness.post(body, by(keys.stricter))).headers.get('x-gw-cache')).toBe('MISS');
      expect((await harness.post(body, by(keys.open))).headers.get('x-gw-cache')).toBe('HIT');
    });
  });
});
