// Guardrails on answers: JSON before it is sent, streams in windows, on every interface, relayed and translated.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { newKey, promptFunction } from '../support/gateway-file.ts';
import { dataLines, type Harness, hello, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';
import { type ScriptedGuardrail, startScriptedGuardrail } from '../support/scripted-guardrail.ts';
import { spokenInterfaces } from '../support/spoken-interfaces.ts';

type Json = Record<string, unknown>;

const windowCharacters = 20;

/** Reads the text of a JSON answer and its finish reason. */
const wholeOf: Readonly<Record<string, (answer: never) => { readonly text: string; readonly end: unknown }>> = {
  'chat-completions': ({
    choices: [choice],
  }: {
    choices: [{ message: { content: string }; finish_reason: string }];
  }) => ({
    text: choice.message.content,
    end: choice.finish_reason,
  }),
  messages: ({ content, stop_reason }: { content: { text?: string }[]; stop_reason: string }) => ({
    text: content.map(({ text = '' }) => text).join(''),
    end: stop_reason,
  }),
  responses: (answer: { output: { content?: { text: string }[] }[]; status: string; incomplete_details?: Json }) => ({
    text: answer.output.flatMap(({ content = [] }) => content.map(({ text }) => text)).join(''),
    end: answer.status === 'incomplete' ? answer.incomplete_details?.reason : answer.status,
  }),
};

const eventsIn = (text: string): Json[] =>
  dataLines(text)
    .filter((line) => line !== '[DONE]')
    .map((line) => JSON.parse(line) as Json);

describe('guardrails on output', () => {
  const keys = { hasty: newKey(), lenient: newKey(), plain: newKey() };
  let guardrail: ScriptedGuardrail;
  let harness: Harness;

  beforeAll(async () => {
    guardrail = await startScriptedGuardrail(() => ({ action: 'pass' }));
    const rules = {
      kind: 'http',
      url: guardrail.url,
      on: ['output'],
      timeout_ms: 20_000,
      window_characters: windowCharacters,
    };
    harness = await startHarness({
      models: {
        'own/echo': [{ provider: 'acme', upstream: 'echo' }],
        'own/tools': [{ provider: 'acme', upstream: 'tools' }],
        'own/reasoning': [{ provider: 'acme', upstream: 'reasoning' }],
        'chat/echo': [{ provider: 'chat', upstream: 'echo' }],
        'messages/echo': [{ provider: 'messages', upstream: 'echo' }],
        'speech/echo': [{ provider: 'speech', upstream: 'echo' }],
      },
      providers: {
        acme: { apis: ['chat-completions', 'messages', 'responses'] },
        chat: { apis: ['chat-completions'] },
        messages: { apis: ['messages'] },
        speech: { apis: ['speech'] },
      },
      guardrails: [
        { id: 'words', ...rules },
        { id: 'lenient', ...rules, on_failure: 'pass' },
      ],
      workspace: { guardrails: ['words'], functions: [promptFunction('ask', 'own/echo')] },
      moreWorkspaces: [
        { id: 'lenient', credit_usd: '10', guardrails: ['lenient'], keys: [{ name: 'lenient', key: keys.lenient }] },
        { id: 'plain', credit_usd: '10', keys: [{ name: 'plain', key: keys.plain }] },
      ],
    });
  });
  afterAll(async () => {
    await harness.stop();
    await guardrail.stop();
  });
  beforeEach(() => guardrail.clear());

  const by = (key: string) => ({ authorization: `Bearer ${key}` });
  const interfaces = spokenInterfaces.filter(({ id }) => wholeOf[id] !== undefined);
  const ways = interfaces.flatMap((one) =>
    ['own/echo', one.id === 'chat-completions' ? 'messages/echo' : 'chat/echo'].map(
      (model) => [one.name, model, one] as const,
    ),
  );

  describe.each(ways)('%s of %s', (_name, model, { id, path, hello: ask, contentOf }) => {
    const post = async (more: Json = {}, key?: string) =>
      (await harness.postTo(path, ask(model, more), key === undefined ? {} : by(key))).text();

    it('leave JSON and streams as they are if they pass', async () => {
      const events = (text: string) => eventsIn(text).length;
      const [json, plain] = [await post(), await post({}, keys.plain)];
      expect(wholeOf[id]?.(JSON.parse(json) as never)).toEqual(wholeOf[id]?.(JSON.parse(plain) as never));
      const [checkedText, unchecked] = [await post({ stream: true }), await post({ stream: true }, keys.plain)];
      expect(contentOf(checkedText)).toBe(contentOf(unchecked));
      expect(events(checkedText)).toBe(events(unchecked));
      expect(guardrail.questions.length).toBeGreaterThan(2);
      expect(new Set(guardrail.questions.map(({ direction }) => direction))).toEqual(new Set(['output']));
    });

    it('block if they fail, or let pass if the file says so', async () => {
      guardrail.answer(() => ({}));
      const refusal = await harness.postTo(path, ask(model));
      await expectError(refusal, 503, 'RATE_LIMITER_UNAVAILABLE');
      await harness.settled();
      harness.simulator.clear();
      const before = await harness.credit();
      const refusedStream = await harness.postTo(path, ask(model, { stream: true }));
      await expectError(refusedStream, 503, 'RATE_LIMITER_UNAVAILABLE');
      expect(harness.simulator.calls).toHaveLength(1);
      await harness.settled();
      const { spent, held } = await harness.credit();
      expect(spent).toBeGreaterThan(before.spent);
      expect(held).toBe(before.held);
      expect(contentOf(await post({ stream: true }, keys.lenient))).toBe(
        contentOf(await post({ stream: true }, keys.plain)),
      );
    });
  });

  describe.each(ways)('%s of %s', (_name, model, { path, hello: ask, contentOf }) => {
    it('end a stream with an error of its own if they fail after the first window', async () => {
      guardrail.answer(() => (guardrail.questions.length < 3 ? { action: 'pass' } : {}));
      const response = await harness.postTo(path, ask(model, { stream: true }));
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(contentOf(text)).not.toBe('');
      expect(text).toContain('no_available_provider');
    });
  });

  it('let a stream begin, unseen, if the first check is not done after 15 s', async () => {
    const clock = manualClock();
    const slow = await startHarness({
      clock,
      models: { 'own/echo': [{ provider: 'acme', upstream: 'echo' }] },
      guardrails: [{ id: 'slow', kind: 'http', url: guardrail.url, on: ['output'], timeout_ms: 20_000 }],
      workspace: { guardrails: ['slow'] },
    });
    const arrival = Promise.withResolvers<void>();
    const answering = Promise.withResolvers<Record<string, unknown>>();
    guardrail.answer(() => {
      arrival.resolve();
      return answering.promise;
    });
    const call = slow.post(hello('own/echo', { stream: true }));
    await arrival.promise;
    clock.advance(15_000);
    const response = await call;
    expect(response.status).toBe(200);
    answering.resolve({});
    const text = await response.text();
    expect(text).toContain('no_available_provider');
    expect(text).not.toContain('"content"');
    await slow.stop();
  });

  it('see no more than a window and the one before it at a time', async () => {
    await (await harness.post(hello('own/echo', { stream: true }))).text();
    expect(guardrail.questions.length).toBeGreaterThan(3);
    for (const { texts } of guardrail.questions) {
      for (const text of texts) expect(text.length).toBeLessThan(4 * windowCharacters);
    }
    const texts = guardrail.questions.map(({ texts: [text = ''] }) => text);
    for (const [at, text] of texts.slice(1).entries())
      expect(text.startsWith((texts[at] ?? '').slice(-windowCharacters))).toBe(true);
  });

  it('check thinking and arguments of tool calls too; a mask in arguments blocks', async () => {
    await (await harness.post(hello('own/reasoning', { stream: true }))).text();
    const tools = [
      {
        type: 'function',
        function: { name: 'look', parameters: { type: 'object', properties: { q: { type: 'string' } } } },
      },
    ];
    const request = hello('own/tools', { tools, messages: [{ role: 'user', content: 'Use look' }] });
    guardrail.answer(({ texts }) => ({ action: 'mask', texts: texts.map((text) => text.replaceAll('"', "'")) }));
    for (const stream of [false, true]) {
      const text = await (await harness.post({ ...request, stream })).text();
      expect(text).toContain('content_filter');
      expect(text).not.toMatch(/"arguments":"[^"]/);
    }
  });

  it('leave audio as it is, which has no texts', async () => {
    const request = { model: 'speech/echo', input: 'Good morning', voice: 'alloy', response_format: 'wav' };
    const of = async (headers = {}) => {
      const response = await harness.postTo('/audio/speech', request, headers);
      return [response.headers.get('content-type'), Buffer.from(await response.arrayBuffer()).toString('base64')];
    };
    const plain = await of(by(keys.plain));
    expect(plain[0]).toBe('audio/wav');
    expect(await of()).toEqual(plain);
  });

  it('check the result of a stored function', async () => {
    guardrail.answer(() => ({ action: 'block', message: 'Not this.' }));
    const answer = await harness.post({ model: 'gw/function/ask', messages: [{ role: 'user', content: 'Hi' }] });
    const { choices, gw } = (await answer.json()) as { choices: Json[]; gw: Json };
    expect(choices).toEqual([
      expect.objectContaining({
        finish_reason: 'content_filter',
        message: expect.objectContaining({ content: 'Not this.' }),
      }),
    ]);
    expect(gw.function_id).toBe('ask');
  });
});
