// Features of chat completions at providers of other formats: each cell of the README's tables, through the front door.
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { createEnvelopes } from '../../shared/protocol/wire/index.ts';
import { expectError } from '../support/expect-error.ts';
import {
  type Ask,
  ableEntry,
  answerFeatures,
  type Check,
  type ColumnApi,
  everyModality,
  type FeatureAnswer,
  type FeatureRow,
  requestFeatures,
  translatedApis,
} from '../support/format-features/index.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { readChunks } from '../support/read-chunks.ts';
import { readStream } from '../support/read-stream.ts';
import {
  eventsReply,
  jsonReply,
  type ScriptedProvider,
  sendReply,
  startScriptedProvider,
} from '../support/scripted-provider.ts';
import { sealedDetails } from '../support/sealed-details.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked into field by field.
type Any = any;

const usualUpstreams: Readonly<Record<ColumnApi, string>> = {
  messages: 'claude-sonnet-4-5',
  converse: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
  'generate-content': 'gemini-2.5-flash',
  responses: 'gpt-4.1',
};
const upstreamOf = ({ upstream, scripted }: Ask, api: ColumnApi): string =>
  scripted === undefined ? (upstream?.[api] ?? usualUpstreams[api]) : 'scripted';
const modelOf = (ask: Ask, api: ColumnApi): string => `${api}/${upstreamOf(ask, api)}`;

interface AskedCell {
  readonly api: ColumnApi;
  readonly checks: readonly (readonly [Ask, Check])[];
}
const cellsOf = ({ asks, cells }: FeatureRow): readonly AskedCell[] =>
  translatedApis.map((api) => ({
    api,
    checks: cells[api].checks.map((check, place) => [check.ask ?? asks[place] ?? asks[0], check]),
  }));
const tables = [...requestFeatures, ...answerFeatures];

let gateway: Harness;
let scriptedProvider: ScriptedProvider;
let scriptedAnswer: Ask['scripted'];

function sendScripted(outgoing: ServerResponse): void {
  if (scriptedAnswer === undefined) throw new Error('nothing was to be asked of the scripted provider');
  const { whole, events } = scriptedAnswer;
  const isStream = outgoing.req.headers.accept === 'text/event-stream';
  sendReply(outgoing, isStream ? eventsReply(...events) : jsonReply(whole));
}

beforeAll(async () => {
  scriptedProvider = await startScriptedProvider(sendScripted);
  const more = ableEntry('service_tier', 'web_search', 'plugins', 'best_of');
  const questions = tables.flatMap(cellsOf).flatMap(({ api, checks }) => checks.map(([ask]) => ({ api, ask })));
  const models = Object.fromEntries(
    questions.flatMap(({ api, ask }) => {
      const upstream = upstreamOf(ask, api);
      const route = { provider: ask.scripted === undefined ? api : `scripted-${api}`, upstream, more };
      const backup = { provider: 'chat-completions', upstream: 'echo', more };
      return [
        [modelOf(ask, api), [route]],
        [`backed/${modelOf(ask, api)}`, [route, backup]],
      ];
    }),
  );
  gateway = await startHarness({
    models,
    modelMembers: everyModality(models),
    providers: {
      // Requests of the table refer to files by id.
      'chat-completions': { shared_state: true },
      ...Object.fromEntries(
        translatedApis.flatMap((api) => [
          [api, { apis: [api] }],
          [`scripted-${api}`, { apis: [api], base_url: scriptedProvider.url }],
        ]),
      ),
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await scriptedProvider.stop();
});
beforeEach(() => gateway.simulator.clear());

const calledFormats = () => gateway.simulator.calls.map(({ format }) => format);

async function post(model: string, ask: Ask, more: Record<string, unknown> = {}): Promise<Response> {
  scriptedAnswer = ask.scripted;
  const body = hello(model, { ...ask.beside, ...ask.asks, ...more });
  return gateway.post(await withSealedDetails(body), { 'x-gw-error-format': 'openai' });
}

/** Seals the provider's details as this workspace would have received them from the requested model. */
async function withSealedDetails({ messages, ...body }: Any): Promise<Any> {
  const { seal } = createEnvelopes(await gateway.composition.storeKey.read(), 'team');
  const model = body.model.replace(/^(backed\/)?[^/]+\//, '');
  const sealedMessages = messages.map(({ reasoning_details: details, ...message }: Any) =>
    details === undefined ? message : { ...message, reasoning_details: sealedDetails(details, model, seal) },
  );
  return { ...body, messages: sealedMessages };
}

async function sentBody(ask: Ask, api: ColumnApi): Promise<unknown> {
  return (await sentWith(ask, api)).body;
}

/** Returns the body that the provider got, and the fields that were reported to the client as dropped. */
async function sentWith(ask: Ask, api: ColumnApi): Promise<{ body: unknown; leftOut: string | null }> {
  gateway.simulator.clear();
  const response = await post(modelOf(ask, api), ask);
  expect([response.status, await response.text()]).toMatchObject([200, {}]);
  expect(calledFormats()).toEqual([api]);
  return { body: gateway.simulator.calls[0]?.body, leftOut: response.headers.get('x-gw-left-out') };
}

async function expectPassedOver(ask: Ask, api: ColumnApi, member: string): Promise<void> {
  const refusal = await post(modelOf(ask, api), ask);
  expect([refusal.status, await refusal.json()]).toMatchObject([
    400,
    { error: { code: 'feature_unsupported', param: member, message: expect.stringContaining(member) } },
  ]);
  expect(calledFormats()).toEqual([]);
  await (await post(`backed/${modelOf(ask, api)}`, ask)).text();
  expect(calledFormats()).toEqual(['chat-completions']);
}

async function readAnswers(ask: Ask, api: ColumnApi): Promise<readonly FeatureAnswer[]> {
  const response = await post(modelOf(ask, api), ask);
  const text = await response.text();
  expect([response.status, text]).toMatchObject([200, {}]);
  const { choices, usage } = JSON.parse(text);
  const streaming = { stream: true, stream_options: { include_usage: true } };
  const { lines } = await readStream(await post(modelOf(ask, api), ask, streaming));
  const pieces = new Map<number, number>();
  for (const line of lines) {
    for (const { index, function: fn } of JSON.parse(line).choices[0]?.delta.tool_calls ?? []) {
      if (fn.arguments !== '') pieces.set(index, (pieces.get(index) ?? 0) + 1);
    }
  }
  return [
    { message: choices[0].message, finishReason: choices[0].finish_reason, usage },
    { ...readChunks(lines), argumentPieces: Math.max(...pieces.values()) },
  ];
}

const checks: {
  readonly [Kind in Check['kind']]: (check: Check & { kind: Kind }, ask: Ask, api: ColumnApi) => Promise<void>;
} = {
  sends: async ({ pick, expected }, ask, api) => expect(pick(await sentBody(ask, api))).toEqual(expected),
  async 'leaves out'(_check, ask, api) {
    const { asks: _feature, ...without } = ask;
    const sentRequest = await sentWith(ask, api);
    expect(sentRequest.leftOut).toEqual(expect.any(String));
    expect(sentRequest.body).toEqual(await sentBody(without, api));
  },
  'passes over': ({ member }, ask, api) => expectPassedOver(ask, api, member),
  async answers({ pick, expected }, ask, api) {
    for (const answer of await readAnswers(ask, api)) expect(pick(answer)).toEqual(expected);
  },
  async rejects({ reason }, ask, api) {
    for (const stream of [false, true]) {
      const response = await gateway.post(hello(modelOf(ask, api), { stream }));
      await expectError(response, 400, 'invalid_request', { reason });
    }
  },
};

describe.each(tables.map((row) => [row.feature, cellsOf(row)] as const))('%s', (_feature, cells) => {
  it.each(cells)('is as the table says at a provider of $api', async ({ api, checks: checkList }) => {
    for (const [ask, check] of checkList) {
      gateway.simulator.clear();
      await checks[check.kind](check as never, ask, api);
    }
  });
});
