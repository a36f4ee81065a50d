import { createGoogle } from '@ai-sdk/google';
import { APICallError, generateText, jsonSchema, Output, streamText, tool } from 'ai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import {
  countTokens,
  type Simulator,
  startSimulator,
  unknownMembersTexts,
} from '../../../infra/local/simulator/index.ts';
import { dataOf, send } from './simulated.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ paceMs: 0 });
});
afterAll(() => simulator.stop());
afterEach(() => simulator.clear());

const prompt = 'What is the capital of France?';
const model = (name: string) => createGoogle({ apiKey: 'google-canary', baseURL: simulator.url })(name);
const ask = (name: string, more = {}) => generateText({ model: model(name), prompt, maxRetries: 0, ...more });
const tools = {
  get_weather: tool({
    inputSchema: jsonSchema({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }),
    execute: async () => 'sunny',
  }),
};
const twoSteps = { tools, stopWhen: ({ steps }: { steps: readonly unknown[] }) => steps.length === 2 };

describe('generateContent, for the AI SDK', () => {
  it('answers with text and usage that adds up, the same in JSON and in a stream', async () => {
    const whole = await ask('gemini');
    expect(whole.text).toContain(prompt);
    expect(whole.finishReason).toBe('stop');
    expect(whole.usage).toMatchObject({ inputTokens: 6, outputTokens: countTokens(whole.text) });
    const stream = streamText({ model: model('gemini'), prompt, maxRetries: 0 });
    expect(await stream.text).toBe(whole.text);
    expect(await stream.usage).toMatchObject({ inputTokens: 6, outputTokens: countTokens(whole.text) });
    expect(simulator.calls.map(({ path, query, format }) => [path, query, format])).toEqual([
      ['/v1/models/gemini:generateContent', '', 'generate-content'],
      ['/v1/models/gemini:streamGenerateContent', 'alt=sse', 'generate-content'],
    ]);
  });

  it('reads a model name with slashes, colons and escapes from the path', async () => {
    const path = `${simulator.url}/models/m%2Fusage:1000:50:200:20:generateContent`;
    const { usageMetadata, modelVersion } = JSON.parse((await send(path, { contents })).text);
    expect(modelVersion).toBe('m/usage:1000:50:200:20');
    expect(usageMetadata).toMatchObject({
      promptTokenCount: 1000,
      cachedContentTokenCount: 200,
      candidatesTokenCount: 30,
      thoughtsTokenCount: 20,
      totalTokenCount: 1050,
    });
  });

  it('calls functions, signs the first call, and takes it back with the results', async () => {
    for (const steps of [
      (await ask('gemini-3/tools', twoSteps)).steps,
      await streamText({ model: model('gemini-3/tools'), prompt, maxRetries: 0, ...twoSteps }).steps,
    ]) {
      expect(steps[0]?.toolCalls).toMatchObject([{ input: { city: 'text' } }, { toolName: 'get_weather' }]);
      expect(steps[1]?.text).toContain('“sunny” and “sunny”');
    }
    expect(simulator.calls.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it('refuses calls whose signature is wrong or lost, and results that are not one for each call', async () => {
    const call = { functionCall: { name: 'get_weather', args: {} } };
    const result = { functionResponse: { name: 'get_weather', response: { output: 'sunny' } } };
    const answered = (parts: object[], results: object[], name = 'gemini-3/echo') =>
      send(`${simulator.url}/models/${encodeURIComponent(name)}:generateContent`, {
        contents: [...contents, { role: 'model', parts }, { role: 'user', parts: results }],
      });
    expect((await answered([call], [result])).text).toContain('missing a thought_signature');
    expect((await answered([call], [result], 'gemini-2.5')).status).toBe(200);
    expect((await answered([{ ...call, thoughtSignature: 'Zm9yZ2Vk' }], [result])).status).toBe(400);
    const skipped = { ...call, thoughtSignature: 'skip_thought_signature_validator' };
    expect((await answered([skipped], [result])).status).toBe(200);
    expect((await answered([skipped, call], [result])).text).toContain('number of function response parts');
  });

  it('shows its thoughts where asked, and counts them beside the candidates', async () => {
    const thinking = { providerOptions: { google: { thinkingConfig: { includeThoughts: true } } } };
    const whole = await ask('gemini', thinking);
    expect(whole.reasoningText).toMatch(/^The user/);
    expect(whole.usage.outputTokenDetails.reasoningTokens).toBe(countTokens(whole.reasoningText ?? ''));
    const stream = streamText({ model: model('gemini'), prompt, maxRetries: 0, ...thinking });
    expect(await stream.reasoningText).toBe(whole.reasoningText);
    expect((await ask('gemini')).reasoningText).toBeUndefined();
  });

  it('answers with an instance of a schema, in Google’s spelling and as JSON Schema', async () => {
    const schema = jsonSchema<{ label: string }>({
      type: 'object',
      required: ['label'],
      properties: { label: { type: 'string', enum: ['bug'] } },
    });
    expect((await ask('gemini', { output: Output.object({ schema }) })).output).toEqual({ label: 'bug' });
    for (const config of [
      { responseSchema: { type: 'OBJECT', properties: { ok: { type: 'BOOLEAN' } } } },
      { responseJsonSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } },
    ]) {
      const answer = await generate('echo', { contents, generationConfig: config });
      expect(JSON.parse(answer.candidates[0].content.parts[0].text)).toEqual({ ok: true });
    }
  });

  it('ends at the output bound, behind a filter, and without any answer for a blocked prompt', async () => {
    expect(await ask('gemini', { maxOutputTokens: 3 })).toMatchObject({
      finishReason: 'length',
      usage: { outputTokens: 3 },
    });
    expect((await ask('content-filter')).finishReason).toBe('content-filter');
    const blocked = await generate('blocked-prompt', { contents });
    expect(blocked).toMatchObject({
      promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
      usageMetadata: { promptTokenCount: 6 },
    });
    expect(blocked).not.toHaveProperty('candidates');
    const [event, ...others] = dataOf((await stream('blocked-prompt')).text);
    expect([JSON.parse(event ?? '').promptFeedback, others]).toEqual([blocked.promptFeedback, []]);
    const both = await generate('echo', { contents, generationConfig: { candidateCount: 2 } });
    expect(both.candidates.map(({ index }: { index: number }) => index)).toEqual([0, 1]);
  });

  it.each([
    [400, 'context_length_exceeded', 'INVALID_ARGUMENT', /exceeds the maximum number of tokens/],
    [429, '', 'RESOURCE_EXHAUSTED', /exhausted/],
    [503, '', 'UNAVAILABLE', /overloaded/],
  ])('error-%d:%s has the form that the SDK shows', async (status, code, word, message) => {
    const error = await ask(`error-${status}:${code}`).catch((reason) => reason);
    expect(APICallError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ statusCode: status, data: { error: { code: status, status: word } } });
    expect(error.message).toMatch(message);
  });

  it('refuses a credential with a 400, and may repeat it', async () => {
    const leak = await send(
      `${simulator.url}/models/error-leak:generateContent`,
      { contents },
      { headers: { 'x-goog-api-key': 'google-canary' } },
    );
    expect([leak.status, JSON.parse(leak.text).error.details[0].reason]).toEqual([400, 'API_KEY_INVALID']);
    expect(leak.text).toContain('google-canary');
  });

  it('sends an error in the middle of a stream, and nothing after it', async () => {
    const events = dataOf((await stream('error-after-chunks:2:rate_limit_exceeded')).text).map((text) =>
      JSON.parse(text),
    );
    expect(events).toHaveLength(3);
    expect(events[2]).toMatchObject({ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } });
  });

  it('wants contents with parts, and streams only as events', async () => {
    for (const body of [{}, { contents: [] }, { contents: [{ role: 'user', parts: [] }] }]) {
      const answer = await send(`${simulator.url}/models/echo:generateContent`, body);
      expect([answer.status, JSON.parse(answer.text).error.status]).toEqual([400, 'INVALID_ARGUMENT']);
    }
    expect((await send(`${simulator.url}/models/echo:streamGenerateContent`, { contents })).status).toBe(400);
  });

  it('sends unknown members, spacing and numbers exactly as its exported texts say', async () => {
    const { json, data } = unknownMembersTexts('generate-content');
    expect((await send(`${simulator.url}/models/unknown-members:generateContent`, { contents })).text).toBe(json);
    expect(dataOf((await stream('unknown-members')).text)).toEqual(data);
    expect((await ask('unknown-members')).text).toBe('café / bar');
  });
});

const contents = [{ role: 'user', parts: [{ text: prompt }] }];
const generate = async (name: string, body: object) =>
  JSON.parse((await send(`${simulator.url}/models/${name}:generateContent`, body)).text);
const stream = (name: string) => send(`${simulator.url}/models/${name}:streamGenerateContent?alt=sse`, { contents });
