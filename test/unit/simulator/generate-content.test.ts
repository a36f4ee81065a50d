import { createGoogle } from '@ai-sdk/google';
import { APICallError, generateText } from 'ai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { type Simulator, startSimulator, unknownMembersTexts } from '../../../infra/local/simulator/index.ts';
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
describe('generateContent, for the AI SDK', () => {
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

  it('answers with an instance of a schema, in Google’s spelling and as JSON Schema', async () => {
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
