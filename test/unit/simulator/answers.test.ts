import { describe, expect, it } from '#jest';
import { countTokens } from '../../../infra/local/simulator/index.ts';
import {
  ask,
  chunksOf,
  contentOf,
  dataOf,
  finishReasonsOf,
  streamed,
  usageOf,
  userMessage,
  withSimulator,
} from './simulated.ts';

const tool = (name: string, properties: object) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties, required: Object.keys(properties) } },
});
const tools = [
  tool('get_weather', { city: { type: 'string' }, days: { type: 'integer', minimum: 2 } }),
  tool('get_time', { zone: { enum: ['UTC', 'CET'] } }),
];

describe('the default answer', () => {
  it('answers any unknown model in JSON with the question, a finish reason and usage that adds up', () =>
    withSimulator(async (simulator) => {
      const answer = await ask(simulator, 'acme/llama3:8b');
      expect(answer.status).toBe(200);
      const { choices, usage, object, model } = JSON.parse(answer.text);
      expect([object, model]).toEqual(['chat.completion', 'acme/llama3:8b']);
      expect(choices).toHaveLength(1);
      expect(choices[0].message.content).toContain('What is the capital of France?');
      expect(choices[0].finish_reason).toBe('stop');
      expect(usage.prompt_tokens).toBe(6);
      expect(usage.completion_tokens).toBe(countTokens(choices[0].message.content));
      expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
    }));

  it('streams role, the same words, finish reason, usage and the end mark, in this order', () =>
    withSimulator(async (simulator) => {
      const whole = JSON.parse((await ask(simulator, 'echo')).text);
      const { text, headers } = await ask(simulator, 'echo', streamed);
      expect(headers['content-type']).toMatch(/^text\/event-stream/);
      const chunks = chunksOf(text);
      expect(chunks[0].choices[0].delta).toEqual({ role: 'assistant', content: '', refusal: null });
      expect(contentOf(text)).toBe(whole.choices[0].message.content);
      expect(chunks.at(-2).choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop' });
      expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage });
      expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
      expect(dataOf(text).at(-1)).toBe('[DONE]');
      expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    }));

  it('sends no usage chunk and no usage member to a stream that did not ask for it', () =>
    withSimulator(async (simulator) => {
      const { text } = await ask(simulator, 'echo', { stream: true });
      expect(text).not.toContain('usage');
      expect(chunksOf(text).every((chunk) => chunk.choices.length === 1)).toBe(true);
    }));

  it.each([{ max_tokens: 3 }, { max_completion_tokens: 3 }])('ends after the token limit: %j', (limit) =>
    withSimulator(async (simulator) => {
      const { choices, usage } = JSON.parse((await ask(simulator, 'echo', limit)).text);
      expect(choices[0].finish_reason).toBe('length');
      expect(usage.completion_tokens).toBe(3);
      const { text } = await ask(simulator, 'echo', { ...limit, ...streamed });
      expect([finishReasonsOf(text), usageOf(text).completion_tokens]).toEqual([['length'], 3]);
    }),
  );

  it('ends before the first stop sequence', () =>
    withSimulator(async (simulator) => {
      const { choices } = JSON.parse((await ask(simulator, 'echo', { stop: ['France', 'never said'] })).text);
      expect(choices[0].message.content).toMatch(/What is the capital of $/);
      expect(choices[0].finish_reason).toBe('stop');
    }));

  it('gives n choices, and each its own finish reason in a stream', () =>
    withSimulator(async (simulator) => {
      const { choices, usage } = JSON.parse((await ask(simulator, 'echo', { n: 3 })).text);
      expect(choices.map((choice: { index: number }) => choice.index)).toEqual([0, 1, 2]);
      expect(usage.completion_tokens).toBe(3 * countTokens(choices[0].message.content));
      const { text } = await ask(simulator, 'two-choices', streamed);
      expect(finishReasonsOf(text)).toEqual(['stop', 'stop']);
      expect(contentOf(text, 1)).toBe(contentOf(text, 0));
    }));

  it('says how many images it saw', () =>
    withSimulator(async (simulator) => {
      const image = { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } };
      const messages = [userMessage([{ type: 'text', text: 'What is this?' }, image, image])];
      const { choices } = JSON.parse((await ask(simulator, 'echo', { messages })).text);
      expect(choices[0].message.content).toMatch(/^I see 2 images\..*What is this\?/);
    }));
});

describe('tools', () => {
  it('answers with two parallel calls whose arguments fit the parameters', () =>
    withSimulator(async (simulator) => {
      const { choices } = JSON.parse((await ask(simulator, 'tools', { tools })).text);
      const [weather, time] = choices[0].message.tool_calls;
      expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
      expect(weather).toMatchObject({ type: 'function', function: { name: 'get_weather' } });
      expect(JSON.parse(weather.function.arguments)).toEqual({ city: 'text', days: 2 });
      expect(JSON.parse(time.function.arguments)).toEqual({ zone: 'UTC' });
      expect(weather.id).not.toBe(time.id);
    }));

  it('streams arguments in fragments that together are the JSON, each call under its index', () =>
    withSimulator(async (simulator) => {
      const { text } = await ask(simulator, 'tools', { tools, ...streamed });
      const deltas = chunksOf(text).flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
      expect(deltas.filter((delta) => delta.id !== undefined).map((delta) => delta.index)).toEqual([0, 1]);
      const fragments = deltas.filter((delta) => delta.index === 0).map((delta) => delta.function.arguments);
      expect(fragments.length).toBeGreaterThan(2);
      expect(JSON.parse(fragments.join(''))).toEqual({ city: 'text', days: 2 });
      expect(finishReasonsOf(text)).toEqual(['tool_calls']);
    }));

  it('answers with text once the results are there, and where tools are forbidden or not asked for', () =>
    withSimulator(async (simulator) => {
      const results = [userMessage('?'), { role: 'tool', tool_call_id: 'a', content: 'sunny' }];
      for (const [model, members] of [
        ['tools', { tools, messages: results }],
        ['tools', { tools, tool_choice: 'none' }],
        ['echo', { tools }],
      ] as const) {
        const { choices } = JSON.parse((await ask(simulator, model, members)).text);
        expect(choices[0].finish_reason).toBe('stop');
        expect(choices[0].message.tool_calls).toBeUndefined();
      }
      const { text } = await ask(simulator, 'tools', { tools, messages: results });
      expect(text).toContain('“sunny”');
    }));

  it('calls tools on any model that is asked for one by name, by choice or one at a time', () =>
    withSimulator(async (simulator) => {
      const callsOf = async (members: object) =>
        JSON.parse((await ask(simulator, 'large', { tools, ...members })).text).choices[0].message.tool_calls;
      expect(await callsOf({ messages: [userMessage('please call get_time')] })).toHaveLength(2);
      expect(await callsOf({ tool_choice: 'required', parallel_tool_calls: false })).toHaveLength(1);
      const [only, ...others] = await callsOf({ tool_choice: { type: 'function', function: { name: 'get_time' } } });
      expect([only.function.name, others]).toEqual(['get_time', []]);
    }));
});

describe('other good answers', () => {
  it('reasons before it speaks and counts the reasoning within the completion', () =>
    withSimulator(async (simulator) => {
      const { choices, usage } = JSON.parse((await ask(simulator, 'reasoning')).text);
      const { content, reasoning_content: reasoning } = choices[0].message;
      expect(usage.completion_tokens_details.reasoning_tokens).toBe(countTokens(reasoning));
      expect(usage.completion_tokens).toBe(countTokens(reasoning) + countTokens(content));
      const deltas = chunksOf((await ask(simulator, 'reasoning', streamed)).text).flatMap(
        (c) => c.choices[0]?.delta ?? [],
      );
      const lastReasoning = deltas.findLastIndex((delta) => delta.reasoning_content !== undefined);
      expect(lastReasoning).toBeGreaterThan(0);
      expect(deltas.findIndex((delta) => delta.content)).toBe(lastReasoning + 1);
    }));

  it('refuses in the refusal member and says nothing as content', () =>
    withSimulator(async (simulator) => {
      const { message } = JSON.parse((await ask(simulator, 'refusal')).text).choices[0];
      expect(message.content).toBeNull();
      expect(message.refusal).toMatch(/cannot help/);
      const { text } = await ask(simulator, 'refusal', streamed);
      expect(contentOf(text)).toBe('');
      expect(
        chunksOf(text)
          .map((chunk) => chunk.choices[0]?.delta.refusal ?? '')
          .join(''),
      ).toBe(message.refusal);
      expect(finishReasonsOf((await ask(simulator, 'content-filter', streamed)).text)).toEqual(['content_filter']);
    }));

  it('repeats the request it received, credential and big numbers as they were', () =>
    withSimulator(async (simulator) => {
      const sent = { headers: { authorization: 'Bearer sk-secret', 'x-extra': 'yes' } };
      const { text } = await ask(simulator, 'x/echo-request', { top_k: 4, max_tokens: 1 }, sent);
      const seen = JSON.parse(JSON.parse(text).choices[0].message.content);
      expect(seen.headers).toMatchObject({ authorization: 'Bearer sk-secret', 'x-extra': 'yes' });
      expect(seen.body).toMatchObject({ model: 'x/echo-request', top_k: 4 });
      const stream = await ask(simulator, 'echo-request', { ...streamed, top_k: 5 });
      expect(JSON.parse(contentOf(stream.text)).body.top_k).toBe(5);
    }));
});
