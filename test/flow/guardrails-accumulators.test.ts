// Streams that a guardrail has blocked, as the official clients accumulate them.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { type Harness, startHarness } from '../support/harness.ts';
import { anthropicOf, openaiOf } from '../support/official-clients.ts';
import { type ScriptedGuardrail, startScriptedGuardrail } from '../support/scripted-guardrail.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';

const message = 'Not this.';
const models = ['own/echo', 'own/reasoning', 'chat/echo', 'messages/echo', 'messages/reasoning'] as const;
/** Models, each with the number of checks that pass before a check blocks. */
const ways = models.flatMap((model) => [0, 1, 2].map((passing) => [model, passing] as const));

describe('streams that are blocked', () => {
  let guardrail: ScriptedGuardrail;
  let abrupt: ScriptedProvider;
  let harness: Harness;

  beforeAll(async () => {
    const chunk = (more: object) =>
      `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', ...more })}\n\n`;
    abrupt = await startScriptedProvider((outgoing) => {
      const choice = { index: 0, delta: { role: 'assistant', content: 'A text at once.' }, finish_reason: null };
      outgoing.setHeader('content-type', 'text/event-stream');
      outgoing.write(chunk({ choices: [choice] }));
      outgoing.write(chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
      outgoing.end('data: [DONE]\n\n');
    });
    guardrail = await startScriptedGuardrail();
    const routes = (provider: string, upstream: string) => [{ provider, upstream }];
    harness = await startHarness({
      models: {
        'own/echo': routes('acme', 'echo'),
        'own/reasoning': routes('acme', 'reasoning'),
        'abrupt/echo': routes('abrupt', 'echo'),
        'chat/echo': routes('chat', 'echo'),
        'messages/echo': routes('messages', 'echo'),
        'messages/reasoning': routes('messages', 'reasoning'),
      },
      providers: {
        acme: { apis: ['chat-completions', 'messages', 'responses'] },
        chat: { apis: ['chat-completions'] },
        abrupt: { base_url: abrupt.url, apis: ['chat-completions'] },
        messages: { apis: ['messages'] },
      },
      guardrails: [
        {
          id: 'words',
          kind: 'http',
          url: guardrail.url,
          on: ['output'],
          timeout_ms: 20_000,
          window_characters: 20,
        },
      ],
      workspace: { guardrails: ['words'] },
    });
  });
  afterAll(async () => {
    await harness.stop();
    await guardrail.stop();
    await abrupt.stop();
  });
  beforeEach(() => guardrail.clear());

  const blockAfter = (passing: number) =>
    guardrail.answer(() => (guardrail.questions.length > passing ? { action: 'block', message } : { action: 'pass' }));
  const messages = [{ role: 'user' as const, content: 'Tell me a long story about guards' }];

  it.each(ways)('chat completions of %s end with content_filter after %i checks', async (model, passing) => {
    blockAfter(passing);
    const client = openaiOf(harness);
    const stream = client.chat.completions.stream({ model, messages, stream_options: { include_usage: true } });
    const { id, choices, usage, model: servedModel } = await stream.finalChatCompletion();
    expect(id).not.toBe('');
    expect(servedModel).not.toBe('');
    expect(choices).toHaveLength(1);
    expect(choices[0]).toMatchObject({ finish_reason: 'content_filter', message: { role: 'assistant' } });
    expect(choices[0]?.message.content?.endsWith(message)).toBe(true);
    expect(usage?.completion_tokens).toBeGreaterThan(0);
  });

  it('chat completions whose first event has a text that is blocked are whole', async () => {
    blockAfter(0);
    const client = openaiOf(harness);
    const whole = await client.chat.completions.stream({ model: 'abrupt/echo', messages }).finalChatCompletion();
    expect(whole).toMatchObject({ id: expect.stringMatching(/./), object: 'chat.completion', created: 1 });
    expect(whole.choices).toMatchObject([
      { finish_reason: 'content_filter', message: { role: 'assistant', content: message } },
    ]);
  });

  it.each(ways)('Messages of %s end with refusal after %i checks', async (model, passing) => {
    blockAfter(passing);
    const client = anthropicOf(harness);
    const whole = await client.messages.stream({ model, messages, max_tokens: 4_000 }).finalMessage();
    expect(whole).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'refusal' });
    expect(whole.content.at(-1)).toMatchObject({ type: 'text', text: message });
    expect(whole.usage.output_tokens).toBeGreaterThan(0);
  });

  it.each(ways)('Responses of %s end incomplete after %i checks', async (model, passing) => {
    blockAfter(passing);
    const client = openaiOf(harness);
    const stream = client.responses.stream({ model, input: messages[0]?.content ?? '', store: false });
    const places: number[] = [];
    for await (const event of stream) if (event.type === 'response.output_item.added') places.push(event.output_index);
    const whole = await stream.finalResponse();
    expect(whole).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } });
    expect(whole.output).toHaveLength(places.length);
    expect(places).toEqual(places.map((_place, at) => at));
    expect(whole.output_text.endsWith(message)).toBe(true);
    expect(whole.usage?.output_tokens).toBeGreaterThan(0);
  });
});
