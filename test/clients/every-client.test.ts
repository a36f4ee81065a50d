// Every client library on both base URLs, and at providers of every format: what works is the same.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { countTokens } from '../../infra/local/simulator/index.ts';
import { type BasePath, basePaths } from '../../shared/foundation/constants/index.ts';
import type { Harness } from '../support/harness.ts';
import {
  baseUrlOf,
  countRequests,
  formats,
  type ProviderName,
  startClientGateway,
  translatedFormats,
} from './client-gateway.ts';
import { chatClients, chatFormats, nodeClients, responsesClients } from './node-clients.ts';
import { openaiByHand } from './openai-client.ts';
import { formatRows, thinkingRows } from './readme-table.ts';
import { isSentBack, shownAs } from './sent-back.ts';

let gateway: Harness;
beforeAll(async () => {
  gateway = await startClientGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.clear());

const openAt = (name: string, base: BasePath, send: typeof fetch = fetch) => {
  const open = nodeClients[name];
  if (open === undefined) throw new Error(`there is no client ${name}`);
  return open({ baseURL: baseUrlOf(gateway, base), apiKey: gateway.key, fetch: send });
};
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => new Error('an error was expected'),
    (reason: unknown) => reason,
  );

interface Cell {
  readonly name: string;
  readonly base: BasePath;
  readonly provider: ProviderName;
}

/** Of an interface one client is enough for all formats: a translated answer is written by the gateway, in one form for every library. */
const cells: readonly Cell[] = [
  ...Object.keys(nodeClients).flatMap((name) => basePaths.map((base) => ({ name, base, provider: 'acme' as const }))),
  ...[Object.keys(chatClients)[0] ?? '', Object.keys(responsesClients)[0] ?? ''].flatMap((name) =>
    translatedFormats.map((provider) => ({ name, base: '/openai/v1' as const, provider })),
  ),
];

describe.each(cells)('$name below $base at a provider of $provider', ({ name, base, provider }) => {
  const client = (send?: typeof fetch) => openAt(name, base, send);
  const echo = `${provider}/echo`;

  it('gets an answer, its cost and its tokens', async () => {
    const { text, cost, tokens } = await client().answer(echo);
    expect(text).toContain('Hello! You wrote “Hello”');
    expect([name, typeof cost]).toEqual([name, 'number']);
    expect(tokens).toEqual({ input: 1, output: countTokens(text) });
  });

  it('reads a stream token by token, and how many they were', async () => {
    const texts: string[] = [];
    const tokens = await client().stream(echo, (text) => texts.push(text));
    expect(texts.join('')).toContain('Hello! You wrote “Hello”');
    expect(texts).toHaveLength(countTokens(texts.join('')));
    expect(tokens).toEqual({ input: 1, output: texts.length });
  });

  it.each([false, true])('calls tools in parallel and gives their results back; stream %s', async (stream) => {
    const { text, asked } = await client().tools(echo, { stream });
    expect(asked).toEqual([{ city: 'text' }, { city: 'text' }]);
    expect(text).toContain('The tools answered “sunny” and “sunny”');
  });

  it('calls tools and then gets an object of its schema, with thinking asked for', async () => {
    const { text, asked } = await client().tools(echo, { labelled: true, effort: 'high' });
    expect(asked).toContainEqual({ city: 'text' });
    expect(JSON.parse(text)).toEqual({ label: 'text' });
  });

  it('gets an object of its schema', async () => {
    expect(await client().schema(echo)).toEqual({ label: 'text' });
  });

  it('is told of a stream that fails before its first output, and does not come back', async () => {
    const counted = countRequests();
    const texts: string[] = [];
    const error = await failureOf(client(counted.send).stream(`${provider}/too-long`, (text) => texts.push(text)));
    // Below /v1 an error has no form that the libraries know.
    if (base !== '/v1') expect(String(error)).toContain('maximum context length is 128000 tokens');
    expect([texts, counted.count, gateway.simulator.calls.length]).toEqual([[], 1, 1]);
  });

  it.each(['broken', 'cut'])(
    'throws where a stream breaks, after what came, and does not come back: %s',
    async (how) => {
      const counted = countRequests();
      const texts: string[] = [];
      const error = await failureOf(client(counted.send).stream(`${provider}/${how}`, (text) => texts.push(text)));
      expect(String(error)).toContain('The stream broke off after its first output');
      expect(texts.join('')).toMatch(/^Hello! You/);
      expect([counted.count, gateway.simulator.calls.length]).toEqual([1, 1]);
    },
  );

  const isRefused = base === '/v1' && !(name in responsesClients);
  it(isRefused ? 'is refused a stream with a schema' : 'streams an object of its schema', async () => {
    const streamed = client().streamedSchema(echo);
    if (!isRefused) expect(await streamed).toEqual({ label: 'text' });
    else await expect(streamed).rejects.toBeDefined();
  });
});

const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8');

describe('the README', () => {
  it.each(Object.keys(nodeClients))('says at providers of which formats %s is answered', async (name) => {
    const cells: Record<string, string> = {};
    for (const format of formats) {
      const asked = openAt(name, '/openai/v1').answer(`formats/${format}`);
      const error = await asked.then(() => undefined, String);
      cells[format] = error === undefined ? 'yes' : 'no';
      if (error !== undefined) expect(error).toContain(`No provider of "formats/${format}" serves the interface`);
    }
    const served = formats.filter((format) => cells[format] === 'yes');
    expect(served).toEqual(chatFormats);
    expect(formatRows(readme)[name]).toEqual(cells);
    expect(gateway.simulator.calls.map(({ format }) => format)).toEqual(served);
  });

  const toolClients = { ...chatClients, 'openai, the message as it came': openaiByHand };
  it.each(Object.entries(toolClients))(
    'says what of the thinking %s sends back with tool results',
    async (name, open) => {
      const isBack = async (provider: ProviderName, stream: boolean) => {
        gateway.simulator.clear();
        const client = open({ baseURL: baseUrlOf(gateway, '/openai/v1'), apiKey: gateway.key, fetch });
        const { text, asked } = await client.tools(`${provider}/thinking`, { stream, effort: 'high' });
        expect([asked, text]).toEqual([
          Array(2).fill({ city: 'text' }),
          expect.stringContaining('“sunny” and “sunny”'),
        ]);
        return isSentBack(gateway.simulator.calls.map(({ body }) => body));
      };
      const cellOf = async (provider: ProviderName) =>
        shownAs(await isBack(provider, false), await isBack(provider, true));
      const [messages, converse] = [await cellOf('messages'), await cellOf('converse')];
      expect(converse).toBe(messages);
      const shown = {
        'Claude (messages, converse)': messages,
        'Gemini (generate-content)': await cellOf('generate-content'),
      };
      expect(thinkingRows(readme)[name]).toEqual(shown);
    },
  );
});
