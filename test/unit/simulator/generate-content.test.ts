import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { type Simulator, startSimulator } from '../../../infra/local/simulator/index.ts';
import { send } from './simulated.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ paceMs: 0 });
});
afterAll(() => simulator.stop());
afterEach(() => simulator.clear());

const prompt = 'What is the capital of France?';
describe('generateContent, for the AI SDK', () => {
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

  it('wants contents with parts, and streams only as events', async () => {
    for (const body of [{}, { contents: [] }, { contents: [{ role: 'user', parts: [] }] }]) {
      const answer = await send(`${simulator.url}/models/echo:generateContent`, body);
      expect([answer.status, JSON.parse(answer.text).error.status]).toEqual([400, 'INVALID_ARGUMENT']);
    }
    expect((await send(`${simulator.url}/models/echo:streamGenerateContent`, { contents })).status).toBe(400);
  });
});

const contents = [{ role: 'user', parts: [{ text: prompt }] }];
