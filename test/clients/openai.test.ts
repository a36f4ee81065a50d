// The stock openai client through the running gateway, where the tests over all clients do not look.

import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import * as z from 'zod';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import type { Harness } from '../support/harness.ts';
import {
  countRequests,
  type FunctionResult,
  functionAlias,
  providers,
  startClientGateway,
  uuidPattern,
} from './client-gateway.ts';

const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello' }];

describe('the stock openai client', () => {
  let gateway: Harness;
  let client: OpenAI;

  beforeAll(async () => {
    gateway = await startClientGateway();
    client = new OpenAI({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
  });
  afterAll(() => gateway.stop());
  beforeEach(() => gateway.simulator.clear());

  it.each(providers)(
    'gets schema_validation_failed when no answer of %s satisfies its schema, and does not come back',
    async (provider) => {
      const counted = countRequests();
      const format = zodResponseFormat(z.object({ label: z.string() }), 'label');
      const failure = await client
        .withOptions({ fetch: counted.send, maxRetries: 2 })
        .chat.completions.create({ model: `${provider}/prose`, messages, response_format: format })
        .catch((error) => error);
      expect(failure).toMatchObject({ status: 422, error: 'schema_validation_failed' });
      expect([counted.count, gateway.simulator.calls.length]).toEqual([1, 3]);
    },
  );

  it('calls a stored function like a model, and gets the same execution again under the same key', async () => {
    const call = () =>
      client.chat.completions.create(
        { model: functionAlias, messages: [{ role: 'user', content: 'Help me' }] },
        { headers: { 'idempotency-key': '5f0c7a52-0d7e-4c5e-9a53-0d9a3a1c8f11' } },
      );
    const [first, again] = [await call(), await call()] as { gw?: FunctionResult }[];
    expect(first?.gw).toEqual({
      function_id: 'label',
      revision_id: 'r1',
      fallback_used: false,
      execution_id: expect.stringMatching(uuidPattern),
    });
    expect(again).toEqual(first);
    expect(gateway.simulator.calls).toHaveLength(1);
  });

  it('shows an error with its code, and an id that stands in our log too', async () => {
    const failure = await client.chat.completions.create({ model: 'nobody/nothing', messages }).catch((error) => error);
    expect(failure).toBeInstanceOf(OpenAI.BadRequestError);
    expect(failure).toMatchObject({ error: 'unknown_model', requestID: expect.stringMatching(uuidPattern) });
    await gateway.settled();
    expect(gateway.logLines.some((line) => line.includes(failure.requestID))).toBe(true);
    expect(gateway.simulator.calls).toEqual([]);
  });

  it('sends an Idempotency-Key as a header of the request; its option idempotencyKey sends nothing', async () => {
    const body = { model: 'acme/echo', messages };
    const ask = (options: OpenAI.RequestOptions) => client.chat.completions.create({ ...body, stream: false }, options);
    const dropped = { idempotencyKey: 'dropped' };
    const [one, other] = [await ask(dropped), await ask(dropped)];
    expect(one.id).not.toBe(other.id);
    const sent = { headers: { 'Idempotency-Key': 'sent-by-openai' } };
    const [first, again] = [await ask(sent), await ask(sent)];
    expect(again).toEqual(first);
    expect(gateway.simulator.calls).toHaveLength(3);
  });
});
