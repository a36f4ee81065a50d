// Every client library on both base URLs: what works is the same.
import { Agent, OpenAIChatCompletionsModel, Runner } from '@openai/agents';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { basePaths } from '../../shared/foundation/constants/index.ts';
import type { Harness } from '../support/harness.ts';
import { baseUrlOf, countRequests, startClientGateway } from './client-gateway.ts';
import { nodeClients, responsesClients } from './node-clients.ts';

let gateway: Harness;
beforeAll(async () => {
  gateway = await startClientGateway();
});
afterAll(() => gateway.stop());

describe.each(Object.entries(nodeClients))('%s', (name, open) => {
  describe.each(basePaths)('below %s', (base) => {
    const client = () => open({ baseURL: baseUrlOf(gateway, base), apiKey: gateway.key, fetch });

    it('gets an answer and its cost', async () => {
      const { text, cost } = await client().answer('acme/echo');
      expect(text).toContain('Hello! You wrote “Hello”');
      expect([name, typeof cost]).toEqual([name, 'number']);
    });

    it('reads a stream', async () => {
      expect(await client().stream('acme/echo')).toContain('Hello! You wrote “Hello”');
    });

    it('calls tools in parallel and gives their results back', async () => {
      const { text, asked } = await client().tools('acme/echo');
      expect(asked).toEqual([{ city: 'text' }, { city: 'text' }]);
      expect(text).toContain('The tools answered “sunny” and “sunny”');
    });

    it('gets an object of its schema', async () => {
      expect(await client().schema('acme/echo')).toEqual({ label: 'text' });
    });

    it('throws where a stream breaks, and does not come back', async () => {
      const counted = countRequests();
      const connection = { baseURL: baseUrlOf(gateway, base), apiKey: gateway.key, fetch: counted.send };
      const error: unknown = await open(connection)
        .stream('acme/broken')
        .catch((reason: unknown) => reason);
      expect(String(error)).toContain('The stream broke off after its first output');
      expect(counted.count).toBe(1);
    });

    const isRefused = base === '/v1' && !(name in responsesClients);
    it(isRefused ? 'is refused a stream with a schema' : 'streams an object of its schema', async () => {
      const streamed = client().streamedSchema('acme/echo');
      if (!isRefused) expect(await streamed).toEqual({ label: 'text' });
      else await expect(streamed).rejects.toBeDefined();
    });
  });
});

describe('@openai/agents', () => {
  it('sends an Idempotency-Key as a default header of a client of its own', async () => {
    const ask = async (key: string) => {
      const defaultHeaders = { 'Idempotency-Key': key };
      const client = new OpenAI({ baseURL: baseUrlOf(gateway, '/openai/v1'), apiKey: gateway.key, defaultHeaders });
      const agent = new Agent({ name: 'helper', model: new OpenAIChatCompletionsModel(client, 'acme/echo') });
      const { rawResponses } = await new Runner({ tracingDisabled: true }).run(agent, 'Hello');
      return rawResponses[0]?.responseId;
    };
    gateway.simulator.clear();
    const [first, again, other] = [await ask('one'), await ask('one'), await ask('two')];
    expect([first, other]).toEqual([expect.stringMatching(/^chatcmpl/), expect.stringMatching(/^chatcmpl/)]);
    expect([again === first, other === first]).toEqual([true, false]);
    expect(gateway.simulator.calls).toHaveLength(2);
  });
});
