// Errors of every kind in every client library, on both base URLs: the text for its user, and the number of retries.
// The README shows the same figures.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Anthropic, { PaymentRequiredError, ServiceUnavailableError } from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type BasePath, basePaths } from '../../shared/foundation/constants/index.ts';
import type { Harness } from '../support/harness.ts';
import { aiSdk, aiSdkOpenai } from './ai-sdk-client.ts';
import { gatewayFetch } from './ai-sdk-fetch.ts';
import { baseUrlOf, countRequests, startClientGateway, translatedFormats } from './client-gateway.ts';
import { type ErrorKind, errorKinds, exampleTitle, kindsAt } from './error-kinds.ts';
import { impatiently } from './impatient.ts';
import { langchain } from './langchain-client.ts';
import { onFailedAttempt } from './langchain-retries.ts';
import { nodeClients } from './node-clients.ts';
import { libraryResults, readsAs, requestResults } from './results.ts';

let gateway: Harness;
beforeAll(async () => {
  gateway = await startClientGateway();
});
afterAll(() => gateway.stop());

/** The libraries alone, and with the options that the README shows. */
const clients: typeof nodeClients = {
  ...nodeClients,
  'AI SDK, gatewayFetch': aiSdk,
  'AI SDK, openai(), gatewayFetch': aiSdkOpenai,
  'LangChain.js, onFailedAttempt': (connection) => langchain(connection, { onFailedAttempt }),
};
const fetchOf: Readonly<Record<string, typeof fetch>> = {
  'AI SDK, gatewayFetch': gatewayFetch,
  'AI SDK, openai(), gatewayFetch': gatewayFetch,
};
/** These libraries do not read `x-should-retry`. */
const comeBackAnyway = ['AI SDK', 'AI SDK, openai()', 'LangChain.js'];

const clientOf = (name: string) => {
  const open = clients[name];
  if (open === undefined) throw new Error(`there is no client ${name}`);
  return open;
};

/** Returns the code of an error. The place of the code depends on the library; some libraries wrap the error. */
function codeOf(error: unknown): unknown {
  const { code, data, lastError, cause } = error as Partial<Record<'code' | 'lastError' | 'cause', unknown>> & {
    data?: { error: { code: string } };
  };
  const inside = lastError ?? cause;
  return data?.error.code ?? code ?? (inside === undefined ? undefined : codeOf(inside));
}

interface Failure {
  readonly error: unknown;
  /** The message as the user reads it. */
  readonly text: string;
  readonly requests: number;
}

async function fail(name: string, base: BasePath, { model, keyOf }: ErrorKind): Promise<Failure> {
  const counter = countRequests(fetchOf[name]);
  const connection = { baseURL: baseUrlOf(gateway, base), apiKey: keyOf(gateway), fetch: counter.send };
  const error: unknown = await impatiently(() =>
    clientOf(name)(connection)
      .answer(model)
      .then(
        () => new Error('an error was expected'),
        (reason: unknown) => reason,
      ),
  );
  return { error, text: String(error), requests: counter.count };
}

/** Failures by call, because several tests look at the same failure. */
const failures = new Map<string, Promise<Failure>>();
function failureOf(name: string, base: BasePath, kind: ErrorKind): Promise<Failure> {
  const id = [name, base, kind.model, kind.title].join();
  const failure = failures.get(id) ?? fail(name, base, kind);
  failures.set(id, failure);
  return failure;
}

describe.each(Object.keys(clients))('%s', (name) => {
  it.each(errorKinds)('below /openai/v1 shows its user message and code: $title', async (kind) => {
    const { error, text } = await failureOf(name, '/openai/v1', kind);
    expect(text).toContain(kind.says);
    expect(codeOf(error)).toBe(kind.code);
  });
});

/** One client is enough, because one place writes the texts for all formats. */
it.each(translatedFormats)(
  'openai reads the same, and comes back as often, if a provider of %s fails',
  async (provider) => {
    const relayedKinds = kindsAt('acme');
    expect(relayedKinds.map(({ title }) => title)).toHaveLength(6);
    for (const [index, kind] of kindsAt(provider).entries()) {
      const { error, text, requests } = await failureOf('openai', '/openai/v1', kind);
      const same = await failureOf('openai', '/openai/v1', relayedKinds[index] as ErrorKind);
      expect([kind.title, codeOf(error), requests]).toEqual([kind.title, kind.code, same.requests]);
      expect(text).toContain(kind.says);
    }
  },
);

/** The client's class for each kind of error, and Anthropic's own type. */
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

it.each(errorKinds)(
  'an error of the stock Anthropic client has its class, type, code, message and id, and is asked for again only if that can help: $title',
  async (kind) => {
    const counter = countRequests();
    const failing = new Anthropic({
      baseURL: new URL(gateway.url).origin,
      authToken: kind.keyOf(gateway),
      apiKey: null,
      fetch: counter.send,
    });
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    const error: unknown = await impatiently(() =>
      failing.messages.create({ model: kind.model, max_tokens: 1_000, messages }).then(
        () => new Error('an error was expected'),
        (reason: unknown) => reason,
      ),
    );
    const [errorClass = Error, type] = classes[kind.title] ?? [];
    expect(error).toBeInstanceOf(errorClass);
    // This code replaces `context_length_exceeded`, which is OpenAI's.
    const code = kind.code === 'context_length_exceeded' ? 'invalid_request' : kind.code;
    // A provider of Messages gets its own words through, because agents read them.
    const says = kind.saysOnMessages ?? kind.says;
    expect(error).toMatchObject({ type, errorCode: code, apiMessage: expect.stringContaining(says) });
    expect((error as { requestID: string }).requestID).toMatch(/^[0-9a-f-]{36}$/);
    expect(counter.count).toBe(kind.isFinal ? 1 : 3);
  },
);

describe('results.ts', () => {
  const readme = readFileSync(join(import.meta.dirname, 'libraries.md'), 'utf8');

  it.each(Object.keys(nodeClients))('says how an error reads in %s', async (name) => {
    const kind = errorKinds.find(({ title }) => title === exampleTitle);
    if (kind === undefined) throw new Error('the example is no kind');
    const read = async (base: BasePath) => readsAs((await failureOf(name, base, kind)).text, kind);
    expect(libraryResults[name]).toEqual({
      cost: expect.any(String),
      reads: { '/openai/v1': await read('/openai/v1'), '/v1': await read('/v1') },
    });
  });

  it.each(['langchain-retries.ts', 'ai-sdk-fetch.ts'])(
    'is beside a page that links to the tested lines: %s',
    (file) => {
      expect(readme).toContain(`](${file})`);
    },
  );

  it('says how many requests each client makes of each kind, on either base URL', async () => {
    const measured: Record<string, string[]> = {};
    for (const name of Object.keys(clients)) {
      const cells: string[] = [];
      measured[name] = cells;
      for (const kind of errorKinds) {
        const counts: number[] = [];
        for (const base of basePaths) counts.push((await failureOf(name, base, kind)).requests);
        cells.push(counts.join(' → '));
      }
    }
    for (const [index, { isFinal }] of errorKinds.entries()) {
      // OpenAI's SDKs, and the others with the lines of the README, send a request that cannot succeed only once.
      const once = Object.keys(clients).filter((name) => !comeBackAnyway.includes(name));
      if (isFinal) for (const name of once) expect([name, measured[name]?.[index]]).toEqual([name, '1 → 1']);
    }
    expect(Object.fromEntries(Object.keys(measured).map((name) => [name, requestResults[name]]))).toEqual(measured);
  });
});
