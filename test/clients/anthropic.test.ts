// The stock client of Anthropic through the running gateway.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Anthropic, { PaymentRequiredError, ServiceUnavailableError } from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import type { Harness } from '../support/harness.ts';
import { countRequests, formats, startClientGateway } from './client-gateway.ts';
import { errorKinds } from './error-kinds.ts';
import { impatiently } from './impatient.ts';
import { formatRows } from './readme-table.ts';

let gateway: Harness;
let client: Anthropic;
beforeAll(async () => {
  gateway = await startClientGateway();
  client = openClient();
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.clear());

const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8');

const openClient = (more: Partial<ConstructorParameters<typeof Anthropic>[0]> = {}) =>
  new Anthropic({ baseURL: new URL(gateway.url).origin, authToken: gateway.key, apiKey: null, ...more });

const ask = (
  content: Anthropic.MessageParam['content'],
  more: Partial<Anthropic.MessageCreateParamsNonStreaming> = {},
) => ({
  model: 'messages/echo',
  max_tokens: 1_000,
  messages: [{ role: 'user' as const, content }],
  ...more,
});
describe('the stock Anthropic client', () => {
  it('reaches providers of the formats in the table, and is told of any other which interface it does not serve', async () => {
    const served: string[] = [];
    for (const format of formats) {
      const asked = client.messages.create(ask('Hello', { model: `formats/${format}` }));
      const error: unknown = await asked.then(
        () => void served.push(format),
        (reason: unknown) => reason,
      );
      if (error === undefined) continue;
      expect(error).toBeInstanceOf(Anthropic.BadRequestError);
      expect(error).toMatchObject({ errorCode: 'model_not_routable', apiMessage: expect.stringContaining('messages') });
    }
    const cells = Object.fromEntries(formats.map((format) => [format, served.includes(format) ? 'yes' : 'no']));
    expect(formatRows(readme)['@anthropic-ai/sdk']).toEqual(cells);
    expect(gateway.simulator.calls.map(({ format }) => format)).toEqual(served);
  });

  it('gets a stream that broke as an error with the code of the gateway, and does not come back', async () => {
    const stream = client.messages.stream(ask('Hello', { model: 'messages/broken' }));
    const error = await stream.finalMessage().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Anthropic.APIError);
    expect(error).toMatchObject({ type: 'api_error', errorCode: 'no_available_provider' });
    expect(String(error)).toContain('The stream broke off');
    expect(gateway.simulator.calls).toHaveLength(1);
  });
});

/** The class that the client has for it, and Anthropic's own type. */
const classes: Readonly<Record<string, readonly [new (...args: never[]) => Error, string]>> = {
  'key is wrong (401)': [Anthropic.AuthenticationError, 'authentication_error'],
  'model is unknown (400)': [Anthropic.BadRequestError, 'invalid_request_error'],
  'prompt is too long (400)': [Anthropic.BadRequestError, 'invalid_request_error'],
  'no credit (402)': [PaymentRequiredError, 'billing_error'],
  'no credential set up (503)': [ServiceUnavailableError, 'overloaded_error'],
  'provider refuses ours (502)': [Anthropic.InternalServerError, 'api_error'],
  'our account has no quota (502)': [Anthropic.InternalServerError, 'api_error'],
  'limited for 90 s (429)': [Anthropic.RateLimitError, 'rate_limit_error'],
  'limited for 30 s (429)': [Anthropic.RateLimitError, 'rate_limit_error'],
  'provider fails (502)': [Anthropic.InternalServerError, 'api_error'],
};

describe('an error that the stock Anthropic client gets', () => {
  it.each(errorKinds)(
    'has its class, type, code, message and id, and is asked for again only where that can help: $title',
    async (kind) => {
      const counted = countRequests();
      const failing = openClient({ authToken: kind.keyOf(gateway), fetch: counted.send });
      const error: unknown = await impatiently(() =>
        failing.messages.create(ask('Hello', { model: kind.model })).then(
          () => new Error('an error was expected'),
          (reason: unknown) => reason,
        ),
      );
      const [errorClass = Error, type] = classes[kind.title] ?? [];
      expect(error).toBeInstanceOf(errorClass);
      // In place of `context_length_exceeded`, which is OpenAI's.
      const code = kind.code === 'context_length_exceeded' ? 'invalid_request' : kind.code;
      // A provider's own words, where it speaks Messages: its agents read them.
      const says = kind.saysOnMessages ?? kind.says;
      expect(error).toMatchObject({ type, errorCode: code, apiMessage: expect.stringContaining(says) });
      expect((error as { requestID: string }).requestID).toMatch(/^[0-9a-f-]{36}$/);
      expect(counted.count).toBe(kind.isFinal ? 1 : 3);
    },
  );
});
