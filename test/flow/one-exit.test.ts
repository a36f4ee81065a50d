// Answers leave by one exit, where the guardrails of the key that reads check them, whoever made the answer; stored
// responses too. Blocked text is removed from every place, and a changed text does not keep its signature.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { dataLines, type Harness, startHarness } from '../support/harness.ts';
import { type ScriptedGuardrail, startScriptedGuardrail } from '../support/scripted-guardrail.ts';
import { completionOf, type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';

type Json = Record<string, unknown>;

const keys = { guarded: newKey(), open: newKey(), masked: newKey() };
const mail = 'me@acme.io';

let guardrail: ScriptedGuardrail;
let provider: ScriptedProvider;
let gateway: Harness;
/** The scripted provider's answer: an object as JSON, a list as a stream of events. */
let next: Json | readonly Json[] = {};

beforeAll(async () => {
  guardrail = await startScriptedGuardrail();
  provider = await startScriptedProvider((outgoing) => {
    const isStream = Array.isArray(next);
    outgoing.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    if (!Array.isArray(next)) outgoing.end(JSON.stringify(next));
    else outgoing.end(next.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
  });
  const words = { id: 'words', kind: 'http', url: guardrail.url, on: ['input', 'output'], timeout_ms: 20_000 };
  gateway = await startHarness({
    models: {
      stored: [{ provider: 'acme', upstream: 'echo' }],
      chat: [{ provider: 'scripted', upstream: 'm' }],
      claude: [{ provider: 'scripted', upstream: 'claude-sonnet-4-5' }],
      images: [{ provider: 'images', upstream: 'm' }],
      sound: [{ provider: 'sound', upstream: 'm' }],
    },
    providers: {
      acme: { apis: ['responses'] },
      scripted: { base_url: provider.url, apis: ['chat-completions', 'messages', 'responses'] },
      images: { base_url: provider.url, apis: ['images'] },
      sound: { base_url: provider.url, apis: ['transcriptions'] },
    },
    guardrails: [words],
    workspace: {
      keys: [
        { name: 'guarded', key: keys.guarded, guardrails: ['words'] },
        { name: 'open', key: keys.open },
      ],
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await guardrail.stop();
  await provider.stop();
});
afterEach(() => {
  guardrail.clear();
  gateway.simulator.clear();
});

const by = (key: string) => ({ authorization: `Bearer ${key}` });
const post = (path: string, body: Json, key = keys.guarded, headers: Record<string, string> = {}) =>
  gateway.postTo(path, body, { ...by(key), ...headers });
const get = (path: string, key: string) => fetch(`${gateway.url}${path}`, { headers: by(key) });
const eventsIn = (text: string): Json[] =>
  dataLines(text).flatMap((line) => (line === '[DONE]' ? [] : [JSON.parse(line) as Json]));

describe('a stored response', () => {
  const make = async (input: string): Promise<string> => {
    const response = await post('/responses', { model: 'stored', input, stream: true }, keys.open);
    const [id = ''] = /resp_[0-9a-f]+/.exec(await response.text()) ?? [];
    await gateway.settled();
    return id;
  };

  it('that another key made is blocked for a key with a guardrail, whole and streamed, and listed', async () => {
    const id = await make('forbidden fruit');
    for (const path of [`/responses/${id}`, `/responses/${id}?stream=true`, `/responses/${id}/input_items`]) {
      const guarded = await get(path, keys.guarded);
      const text = await guarded.text();
      expect({ path, status: guarded.status }).toEqual({ path, status: 200 });
      expect(text).toContain('Not this word.');
      expect(text).not.toContain('forbidden');
      expect(await (await get(path, keys.open)).text()).toContain('forbidden');
    }
    const whole = (await (await get(`/responses/${id}`, keys.guarded)).json()) as Json;
    expect(whole).toMatchObject({ id, status: 'incomplete', incomplete_details: { reason: 'content_filter' } });
  });

  it('is masked for a key with a guardrail, in each of its events', async () => {
    const id = await make(`write to ${mail}`);
    const text = await (await get(`/responses/${id}?stream=true`, keys.guarded)).text();
    expect(text).toContain('[mail]');
    expect(text).not.toContain(mail);
    expect(eventsIn(text).at(-1)).toMatchObject({ type: 'response.completed' });
  });

  it('does not leave if its guardrail gives no answer', async () => {
    const id = await make('Hello');
    guardrail.answer(() => (response) => response.writeHead(500).end());
    await expectError(await get(`/responses/${id}`, keys.guarded), 503, 'RATE_LIMITER_UNAVAILABLE');
  });
});

describe('a blocked answer', () => {
  const secret = 'forbidden text';
  const choiceOf = ({ message, ...more }: { readonly message: Json; readonly notes?: string }) => ({
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop', ...more }],
  });
  it.each<[string, Json]>([
    ['citations', { citations: [{ title: secret }] }],
    ['search results', { search_results: [{ snippet: secret }] }],
    ['a field that is new', { later: { notes: [secret] } }],
    ['a field of its message', choiceOf({ message: { content: 'fine', annotations: [{ title: secret }] } })],
    ['a field of its choice', choiceOf({ message: { content: 'fine' }, notes: secret })],
  ])('of a chat completion has nothing left of a text in %s, whole', async (_name, more) => {
    next = { ...(JSON.parse(completionOf({ content: 'fine' })) as Json), ...more };
    const answer = (await (await post('/chat/completions', hello('chat'))).json()) as Json;
    expect(JSON.stringify(answer)).not.toContain('forbidden');
    expect(answer.choices).toMatchObject([{ message: { content: 'Not this word.' }, finish_reason: 'content_filter' }]);
    expect(answer.usage).toMatchObject({ prompt_tokens: 10 });
  });

  it.each<[string, Json]>([
    ['citations', { citations: [{ title: secret }] }],
    ['search results', { search_results: [{ snippet: secret }] }],
    ['a field that is new', { later: { notes: [secret] } }],
  ])('of a chat completion has nothing left of a text in %s beside the choices, streamed', async (_name, more) => {
    const chunk = (delta: Json, reason: string | null, beside: Json = {}): Json => ({
      ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
      choices: [{ index: 0, delta, finish_reason: reason }],
      ...beside,
    });
    next = [
      chunk({ role: 'assistant', content: 'fine' }, null),
      chunk({ content: '!' }, null, more),
      chunk({}, 'stop'),
    ];
    const streamText = await (await post('/chat/completions', { ...hello('chat'), stream: true })).text();
    expect(streamText).not.toContain('forbidden');
    expect(streamText).toContain('Not this word.');
    expect(eventsIn(streamText).at(-1)).toMatchObject({ choices: [{ finish_reason: 'content_filter' }] });
  });

  it('keeps no other choice, which was not blocked by itself', async () => {
    next = JSON.parse(completionOf({ content: secret }, { content: 'the other choice' })) as Json;
    const text = await (await post('/chat/completions', { ...hello('chat'), n: 2 })).text();
    expect(text).not.toContain('forbidden');
    expect(text).not.toContain('the other choice');
  });

  it('of Messages has nothing left of a text beside its blocks, whole and streamed', async () => {
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    const end = { stop_reason: 'refusal', stop_details: { type: 'refusal', explanation: secret } };
    next = { ...message, content: [{ type: 'text', text: 'fine' }], ...end };
    const whole = await (await post('/messages', question('claude'))).text();
    expect(whole).not.toContain('forbidden');
    const streamOf = (delta: Json, beside: Json): Json[] => [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'fine' }, ...beside },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ];
    const ended = { stop_reason: 'end_turn' };
    const started = streamOf(ended, {});
    const unknown = { type: 'note', text: secret };
    for (const events of [
      streamOf(end, {}),
      streamOf(ended, { later: { notes: [secret] } }),
      [...started.slice(0, 3), unknown, ...started.slice(3)],
    ]) {
      next = events;
      const streamText = await (await post('/messages', { ...question('claude'), stream: true })).text();
      expect(streamText).not.toContain('forbidden');
      expect(streamText).toContain('Not this word.');
      expect(eventsIn(streamText).at(-1)).toMatchObject({ type: 'message_stop' });
    }
  });
});

const hello = (model: string): Json => ({ model, messages: [{ role: 'user', content: 'Hello' }] });
const question = (model: string): Json => ({ max_tokens: 2_000, ...hello(model) });

describe('a signed text', () => {
  const thinking = { type: 'thinking', thinking: `write to ${mail}`, signature: 'sig-of-provider' };
  const use = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} };
  const answer = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [thinking, use],
    stop_reason: 'tool_use',
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  const withTools = { tools: [{ name: 'look', input_schema: { type: 'object' } }] };
  const thinks = { thinking: { type: 'enabled', budget_tokens: 1_024 } };
  const body = { ...question('claude'), ...withTools, ...thinks };
  const turnAfter = (content: unknown) => [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'done' }] },
  ];

  it('that a mask touches is dropped from a whole answer and reported, and the next turn does not think', async () => {
    next = answer;
    const response = await post('/messages', body);
    expect(response.headers.get('x-gw-left-out')).toBe('content[0]');
    const { content } = (await response.json()) as { content: Json[] };
    expect(content).toEqual([use]);
    await post('/messages', { ...body, messages: turnAfter(content) });
    expect(JSON.parse(provider.bodies.at(-1) ?? '')).not.toHaveProperty('thinking');
  });

  it('that a mask touches loses its signature in a stream, and does not come back to its provider', async () => {
    const { content: _none, ...start } = answer;
    next = [
      { type: 'message_start', message: { ...start, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: thinking.thinking } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: thinking.signature } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: use },
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ];
    const text = await (await post('/messages', { ...body, stream: true })).text();
    expect(text).not.toContain(mail);
    expect(text).not.toContain(thinking.signature);
    const signatures = eventsIn(text).flatMap(({ delta }) => ((delta as Json | undefined)?.signature as string) ?? []);
    next = answer;
    const back = [{ ...thinking, thinking: 'write to [mail]', signature: signatures[0] ?? '' }, use];
    const response = await post('/messages', { ...body, messages: turnAfter(back) });
    expect(response.headers.get('x-gw-left-out')).toContain('messages[1].content[0]');
    const sentBody = JSON.parse(provider.bodies.at(-1) ?? '') as {
      messages: { content: Json[] }[];
      thinking?: unknown;
    };
    expect(sentBody.messages[1]?.content).toEqual([use]);
    expect(sentBody.thinking).toBeUndefined();
  });

  it('of a history is dropped if a mask touches it, and reported, and the turn goes on', async () => {
    next = { ...answer, content: [{ type: 'text', text: 'fine' }], stop_reason: 'end_turn' };
    const response = await post('/messages', { ...body, messages: turnAfter([thinking, use]) });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-gw-left-out')).toContain('messages[1].content[0]');
    const sentText = provider.bodies.at(-1) ?? '';
    expect(sentText).not.toContain(mail);
    expect(sentText).not.toContain(thinking.signature);
    expect(JSON.parse(sentText)).not.toHaveProperty('thinking');
    await gateway.settled();
    const record = (await gateway.records()).at(-1);
    expect(record?.leftOut).toContain('messages[1].content[0]');
  });

  it('of a history stays, signature and all, if no mask touches it', async () => {
    next = { ...answer, content: [{ type: 'text', text: 'fine' }], stop_reason: 'end_turn' };
    const plain = { ...thinking, thinking: 'nothing of note' };
    const response = await post('/messages', { ...body, messages: turnAfter([plain, use]) });
    expect(response.headers.get('x-gw-left-out')).toBeNull();
    expect(provider.bodies.at(-1)).toContain(thinking.signature);
  });
});

describe('a text that a model reads', () => {
  const word = 'forbidden fruit';
  const schema = (more: Json) => ({ type: 'object', properties: { q: { type: 'string', ...more } } });
  const tool = (parameters: unknown, more: Json = {}) => ({
    tools: [{ type: 'function', function: { name: 'look', parameters, ...more } }],
  });
  it.each([
    ['below a parameter named usage', tool({ type: 'object', properties: { usage: { description: word } } })],
    ['below a parameter named logprobs', tool({ type: 'object', properties: { logprobs: { enum: [word] } } })],
    ['below a parameter named cache_control', tool({ properties: { cache_control: { title: word } } })],
    ['in the format of a parameter', tool(schema({ format: word }))],
    ['in the id of a schema', tool({ ...schema({}), $id: word })],
    ['among required fields', tool({ ...schema({}), required: [word] })],
    ['as the name of a parameter', tool({ type: 'object', properties: { [word]: {} } })],
    ['in a field of a tool that is new', tool(schema({}), { metadata: { note: word } })],
    ['as the name of a tool', { tools: [{ type: 'function', function: { name: 'forbidden_look', parameters: {} } }] }],
    ['as the name of a message', { messages: [{ role: 'user', name: 'forbidden', content: 'Hello' }] }],
    ['in the status of a message', { messages: [{ role: 'user', status: word, content: 'Hello' }] }],
  ])('is checked %s', async (_name, more) => {
    const calls = provider.bodies.length;
    const refusal = await post('/chat/completions', { ...hello('chat'), ...more });
    await expectError(refusal, 400, 'invalid_request', { reason: 'content_policy_violation' });
    expect(provider.bodies).toHaveLength(calls);
  });

  it('is blocked, not masked, if it is a name', async () => {
    const namedBody = { ...hello('chat'), messages: [{ role: 'user', name: mail, content: 'Hello' }] };
    await expectError(await post('/chat/completions', namedBody), 400, 'invalid_request', {
      reason: 'content_policy_violation',
    });
  });

  it('is masked in a form, whose other parts stay as they came', async () => {
    next = { text: 'fine' };
    const form = new FormData();
    form.append('model', 'sound');
    form.append('prompt', `names like ${mail}`);
    form.append('file', new File([Buffer.alloc(32)], 'a.wav', { type: 'audio/wav' }));
    const headers = by(keys.guarded);
    const response = await fetch(`${gateway.url}/audio/transcriptions`, { method: 'POST', headers, body: form });
    expect(response.status).toBe(200);
    expect(provider.bodies.at(-1)).toContain('names like [mail]');
    expect(provider.bodies.at(-1)).not.toContain(mail);
    expect(provider.bodies.at(-1)).toContain('filename="a.wav"');
  });
});

describe('a schema', () => {
  const format = {
    type: 'json_schema',
    json_schema: { name: 'a', schema: { type: 'object', properties: { to: { enum: [mail] } } } },
  };
  it('is checked before the mask: a masked answer that breaks it is sent, whole and streamed', async () => {
    // The word is in the schema too; the guardrail checks only answers.
    guardrail.answer(({ direction, texts }) =>
      direction === 'input'
        ? { action: 'pass' }
        : { action: 'mask', texts: texts.map((text) => text.replace(mail, '[mail]')) },
    );
    const content = JSON.stringify({ to: mail });
    next = JSON.parse(completionOf({ content })) as Json;
    const body = { ...hello('chat'), response_format: format };
    const whole = await post('/chat/completions', body);
    expect(whole.status).toBe(200);
    expect(await whole.text()).toContain('[mail]');
    next = [
      { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content }, finish_reason: null }] },
      { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ];
    const base = gateway.url.replace(/\/v1$/, '/openai/v1');
    const streamResponse = await fetch(`${base}/chat/completions`, {
      method: 'POST',
      headers: { ...by(keys.guarded), 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, stream: true }),
    });
    const text = await streamResponse.text();
    expect(text).toContain('[mail]');
    expect(text).not.toContain('schema_validation_failed');
    expect(text).toContain('[DONE]');
  });
});

describe('a file at a provider', () => {
  it.each([
    ['an image', { images: [{ file_id: 'file-of-another' }] }],
    ['a mask', { images: [{ image_url: 'data:image/png;base64,AAAA' }], mask: { file_id: 'file-of-another' } }],
  ])('that this workspace did not make is not reached by %s of a relayed interface', async (_name, more) => {
    const calls = provider.bodies.length;
    const refusal = await post('/images/edits', { model: 'images', prompt: 'Make it night', ...more }, keys.open);
    const { message } = await expectError(refusal, 400, 'invalid_request');
    expect(message).toContain('names nothing that this workspace has made');
    expect(provider.bodies).toHaveLength(calls);
  });
});

describe('what was left out', () => {
  it('is reported by a replay and by a cached answer too', async () => {
    next = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'fine' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    const old = [
      { type: 'thinking', thinking: 'a', signature: 'gw1.of-a-stranger' },
      { type: 'text', text: 'b' },
    ];
    const messages = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: old },
      { role: 'user', content: 'Go on' },
    ];
    const body = { ...question('claude'), messages, cache: { enabled: true } };
    const headers = { 'idempotency-key': 'left-out-1' };
    const [first, replay] = [
      await post('/messages', body, keys.open, headers),
      await post('/messages', body, keys.open, headers),
    ];
    expect(first.headers.get('x-gw-left-out')).toContain('messages[1].content[0]');
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    expect(replay.headers.get('x-gw-left-out')).toBe(first.headers.get('x-gw-left-out'));
    await gateway.settled();
    const cached = await post('/messages', body, keys.open);
    expect(cached.headers.get('x-gw-cache')).toBe('HIT');
    expect(cached.headers.get('x-gw-left-out')).toBe(first.headers.get('x-gw-left-out'));
  });
});

describe('usage that a client of the second base URL asks for', () => {
  it('comes once if the provider reports it with its last choice', async () => {
    next = [
      {
        id: 'c',
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta: { content: 'a' }, finish_reason: null }],
      },
      {
        id: 'c',
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
        usage: { prompt_tokens: 7, completion_tokens: 1, total_tokens: 8 },
      },
    ];
    const base = gateway.url.replace(/\/v1$/, '/openai/v1');
    const response = await fetch(`${base}/chat/completions`, {
      method: 'POST',
      headers: { ...by(keys.open), 'content-type': 'application/json' },
      body: JSON.stringify({ ...hello('chat'), stream: true, usage: { include: true } }),
    });
    const usages = eventsIn(await response.text()).flatMap(({ usage }) => (usage as Json | null) ?? []);
    expect(usages).toMatchObject([{ prompt_tokens: 7, cost: expect.any(Number) }]);
  });
});
