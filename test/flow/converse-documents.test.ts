// Documents, names and results that clients of every interface send and Converse refuses, through the front door.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { type Harness, startHarness } from '../support/harness.ts';

type Json = Record<string, unknown>;
let gateway: Harness;
beforeAll(async () => {
  const more = { max_output_tokens: 8_192, supported_params: { tools: true } };
  gateway = await startHarness({
    models: { 'on/converse': [{ provider: 'converse', upstream: 'anthropic.claude-sonnet-4-5-v1/echo', more }] },
    providers: { converse: { apis: ['converse'] } },
  });
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.clear());

const pdf = 'JVBERi0xLjQK';
const clients = {
  'chat/completions': (...turns: (readonly string[])[]) => ({
    messages: turns.flatMap((names) => [
      {
        role: 'user',
        content: names.map((filename) => ({
          type: 'file',
          file: { filename, file_data: `data:application/pdf;base64,${pdf}` },
        })),
      },
      { role: 'assistant', content: 'Seen.' },
    ]),
  }),
  messages: (...turns: (readonly string[])[]) => ({
    max_tokens: 100,
    messages: turns.flatMap((names) => [
      {
        role: 'user',
        content: names.map((title) => ({
          type: 'document',
          title,
          source: { type: 'base64', media_type: 'application/pdf', data: pdf },
        })),
      },
      { role: 'assistant', content: 'Seen.' },
    ]),
  }),
  responses: (...turns: (readonly string[])[]) => ({
    input: turns.flatMap((names) => [
      {
        role: 'user',
        content: names.map((filename) => ({
          type: 'input_file',
          filename,
          file_data: `data:application/pdf;base64,${pdf}`,
        })),
      },
      { role: 'assistant', content: 'Seen.' },
    ]),
  }),
};
const names = Object.keys(clients) as (keyof typeof clients)[];

async function ask(path: string, body: Json): Promise<{ readonly status: number; readonly text: string }> {
  const response = await gateway.postTo(
    `/${path}`,
    { model: 'on/converse', ...body },
    { 'x-gw-error-format': 'openai' },
  );
  return { status: response.status, text: await response.text() };
}

const sentMessages = (): readonly Json[] =>
  gateway.simulator.calls.flatMap(({ body }) => (body as { readonly messages: Json[] }).messages);

describe.each(names)('documents of a client of %s', (client) => {
  const turns = (...lists: (readonly string[])[]) => {
    const body = clients[client](...lists) as unknown as { messages?: Json[]; input?: Json[] };
    for (const list of [body.messages, body.input]) list?.push({ role: 'user', content: 'Compare them.' });
    return body as Json;
  };

  it('are beside a text, under names that occur once', async () => {
    const body = turns(['report.pdf', 'report.docx'], ['report.pdf'], ['report (2).pdf']);
    expect((await ask(client, body)).status).toBe(200);
    const documents = sentMessages().flatMap(({ content }) =>
      (content as { readonly document?: { readonly name: string } }[]).flatMap(({ document }) => document?.name ?? []),
    );
    expect([documents.length, new Set(documents).size]).toEqual([4, 4]);
    expect(documents[0]).toBe('report');
  });

  it('are five in a message at most, and more are refused by name', async () => {
    const six = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name}.pdf`);
    const answer = await ask(client, turns(six));
    expect([answer.status, gateway.simulator.calls]).toEqual([400, []]);
    expect(answer.text).toMatch(/many_documents/);
    expect((await ask(client, turns(six.slice(1)))).status).toBe(200);
  });
});

it('names of tools that it does not take are shortened, and clients of chat completions get the original names back', async () => {
  const long = `mcp__${'server_'.repeat(10)}tool.of.it`;
  const tool = (name: string) => ({ type: 'function', function: { name, parameters: { type: 'object' } } });
  const answer = await ask('chat/completions', {
    messages: [
      { role: 'user', content: 'Hello' },
      {
        role: 'assistant',
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: long, arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'ok' },
      { role: 'user', content: 'Use the tools again.' },
    ],
    tools: [tool(long), tool('short')],
    tool_choice: { type: 'function', function: { name: long } },
  });
  expect(answer.status).toBe(200);
  expect(JSON.stringify(gateway.simulator.calls[0]?.body)).not.toContain(long);
  expect(JSON.parse(answer.text).choices[0].message.tool_calls[0].function.name).toBe(long);
});

it('a result that failed says so', async () => {
  const answer = await ask('messages', {
    max_tokens: 100,
    tools: [{ name: 'look', input_schema: { type: 'object' } }],
    messages: [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: [1, 2].map((n) => ({ type: 'tool_use', id: `t${n}`, name: 'look', input: {} })) },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', content: 'no such file', is_error: true },
          { type: 'tool_result', tool_use_id: 't2', content: 'fine' },
        ],
      },
    ],
  });
  expect([answer.status, answer.text]).toMatchObject([200, {}]);
  const blocks = sentMessages().flatMap(({ content }) => content as readonly { readonly toolResult?: Json }[]);
  const results = blocks.flatMap(({ toolResult }) => (toolResult === undefined ? [] : [toolResult]));
  expect(results.map(({ toolUseId, status }) => [toolUseId, status])).toEqual([
    ['t1', 'error'],
    ['t2', undefined],
  ]);
});
