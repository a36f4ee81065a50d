// Features of Messages and Responses at models of other formats: each cell of the README's tables, through the front
// door.
import { afterAll, beforeAll, expect, it } from '#jest';
import {
  ableEntry,
  type ClientId,
  type ClientRow,
  type ColumnFormat,
  clientsOfMessages,
  clientsOfResponses,
  columnsOf,
  everyModality,
  type FeatureVerdict,
} from '../support/format-features/index.ts';
import { type Harness, startHarness } from '../support/harness.ts';

type Json = Record<string, unknown>;
const formats: readonly ColumnFormat[] = ['messages', 'responses', 'converse', 'generate-content', 'chat-completions'];
/** The second model of each pair reasons. */
const upstreams: Readonly<Record<ColumnFormat, readonly [string, string]>> = {
  messages: ['claude-sonnet-4-5', 'claude-sonnet-4-5'],
  responses: ['gpt-4.1', 'gpt-5.4'],
  converse: ['anthropic.claude-sonnet-4-5-v1', 'anthropic.claude-sonnet-4-5-v1'],
  'generate-content': ['gemini-2.5-flash', 'gemini-3-pro'],
  'chat-completions': ['gpt-4.1', 'gpt-5.1'],
};

let gateway: Harness;
beforeAll(async () => {
  const more = ableEntry('web_search', 'image_generation', 'mcp', 'code_execution', 'prompt', 'other_tools');
  const models = Object.fromEntries(
    formats.flatMap((format) =>
      upstreams[format].map((upstream, place) => [`${format}/${place}`, [{ provider: format, upstream, more }]]),
    ),
  );
  gateway = await startHarness({
    models,
    modelMembers: everyModality(models),
    providers: Object.fromEntries(formats.map((format) => [format, { apis: [format] }])),
  });
});
afterAll(() => gateway.stop());

const usual: Readonly<Record<ClientId, Json>> = {
  messages: { max_tokens: 4_000, messages: [{ role: 'user', content: 'Hello' }] },
  responses: { max_output_tokens: 4_000, input: [{ role: 'user', content: 'Hello' }] },
};

type AskingRow = Omit<ClientRow, 'becomes'>;

interface Answered {
  readonly status: number;
  readonly answer: string;
  readonly leftOut: readonly string[];
  readonly sent: readonly string[];
}

async function ask(client: ClientId, format: ColumnFormat, row: AskingRow, isAsked = true): Promise<Answered> {
  gateway.simulator.clear();
  const { asks, beside, headers, isThinker } = row;
  const response = await gateway.postTo(
    `/${client}`,
    {
      model: `${format}/${isThinker === true ? 1 : 0}`,
      ...usual[client],
      ...beside,
      ...(isAsked ? asks : {}),
    },
    { 'x-gw-error-format': 'openai', ...(isAsked ? headers : {}) },
  );
  const answer = await response.text();
  return {
    status: response.status,
    answer,
    leftOut: (response.headers.get('x-gw-left-out') ?? '').split(',').filter((member) => member !== ''),
    sent: gateway.simulator.calls.map(({ bodyText }) => bodyText),
  };
}

/** Answers to requests without a row's feature; many rows share the rest of their request. */
const plainAnswers = new Map<string, Promise<Answered>>();
function askWithout(client: ClientId, format: ColumnFormat, row: AskingRow): Promise<Answered> {
  const id = JSON.stringify([client, format, row.beside, row.isThinker]);
  const answerPromise = plainAnswers.get(id) ?? ask(client, format, row, false);
  plainAnswers.set(id, answerPromise);
  return answerPromise;
}

async function check(client: ClientId, format: ColumnFormat, row: AskingRow, verdict: FeatureVerdict): Promise<void> {
  const { status, answer, leftOut, sent } = await ask(client, format, row);
  if (verdict.says === 'refused') {
    expect([status, sent, JSON.parse(answer)]).toMatchObject([400, [], { error: { message: expect.any(String) } }]);
    expect(answer).toContain('feature_unsupported');
    expect(answer).toContain(verdict.member);
    return;
  }
  expect([status, answer, sent]).toMatchObject([200, {}, [expect.any(String)]]);
  const isFound = verdict.says !== 'dropped' && verdict.marks.length > 0;
  const without = isFound ? undefined : await askWithout(client, format, row);
  if (verdict.says === 'dropped') {
    expect(leftOut.toSorted()).toEqual(verdict.members);
    expect([without?.leftOut, sent]).toEqual([[], without?.sent]);
    return;
  }
  expect(leftOut).toEqual([]);
  // A stop sequence that the gateway itself applies changes nothing in the provider's request.
  if (verdict.says === 'carried') expect(sent).not.toEqual(without?.sent);
  for (const mark of verdict.marks) {
    if (typeof mark === 'string') expect(sent[0]).toContain(mark);
    else expect(sent[0]).toMatch(mark);
  }
}

type Cell = readonly [client: ClientId, feature: string, format: ColumnFormat, row: AskingRow, verdict: FeatureVerdict];
const cells: readonly Cell[] = [
  ...clientsOfMessages.flatMap((row) =>
    columnsOf.messages.map((format) => ['messages', row.feature, format, row, row.becomes[format]] as const),
  ),
  ...clientsOfResponses.flatMap((row) =>
    columnsOf.responses.map((format) => ['responses', row.feature, format, row, row.becomes[format]] as const),
  ),
];

it.each(cells)(
  'what a client of %s sends arrives as the table says: %s, to %s',
  async (client, _feature, format, row, verdict) => check(client, format, row, verdict),
);

it('the report of left-out fields is short and a valid header, whatever a client calls its fields and however many it sends', async () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_one, index) => [`made_up_${index}`, 1]));
  const odd = { 'line\r\nx-injected: yes': 1, 日本: 1, 'a,b': 1, ['x'.repeat(5_000)]: 1 };
  for (const [client, format] of [
    ['responses', 'messages'],
    ['messages', 'converse'],
  ] as const) {
    const { status, leftOut } = await ask(client, format, { feature: '', asks: { ...odd, ...many } });
    expect([status, leftOut.length]).toEqual([200, 32]);
    for (const member of leftOut) expect(member).toMatch(/^[\w.[\]-]{1,128}$/);
  }
});

it('the report of left-out fields is in the record of the call too', async () => {
  const { leftOut } = await ask('messages', 'converse', { feature: '', asks: { metadata: { user_id: 'u' } } });
  const record = await gateway.lastRecord();
  expect([leftOut, record?.leftOut]).toEqual([['metadata'], ['metadata']]);
});
