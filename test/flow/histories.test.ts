// Old parts of a conversation never make a request fail: blocks and items that only one provider knows, tools that come
// and go, references to the gateway's own output.
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { type Harness, startHarness } from '../support/harness.ts';
import { anthropicOf, openaiOf } from '../support/official-clients.ts';

const upstreams = {
  responses: 'gpt-4.1',
  converse: 'anthropic.claude-sonnet-4-5-v1',
  'generate-content': 'gemini-2.5-flash',
  'chat-completions': 'gpt-4.1',
  messages: 'claude-sonnet-4-5',
} as const;
type Format = keyof typeof upstreams;

let gateway: Harness;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  const more = { max_output_tokens: 8_192, supported_params: { tools: true } };
  gateway = await startHarness({
    models: Object.fromEntries(
      Object.entries(upstreams).map(([format, upstream]) => [
        `on/${format}`,
        [{ provider: format, upstream: `${upstream}/echo`, more }],
      ]),
    ),
    providers: Object.fromEntries(Object.keys(upstreams).map((format) => [format, { apis: [format] }])),
  });
  openai = openaiOf(gateway, '/openai/v1');
  anthropic = anthropicOf(gateway);
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.clear());

const sentText = (): string => gateway.simulator.calls.map(({ bodyText }) => bodyText).join('\n');
const leftOutOf = (response: Response): string => response.headers.get('x-gw-left-out') ?? '';

describe('Messages', () => {
  const others = ['responses', 'converse', 'generate-content', 'chat-completions'] as const satisfies Format[];
  const input_schema = { type: 'object' as const, properties: {} };
  const betas = ['mid-conversation-tool-changes-2026-07-01', 'inline-tools-2026-09-15'];
  type Message = Anthropic.Beta.BetaMessageParam;
  const change = (type: 'tool_addition' | 'tool_removal', tool: object): Message =>
    ({ role: 'system', content: [{ type, tool }] }) as unknown as Message;
  const reference = (name: string) => ({ type: 'tool_reference', name });
  const ask = (model: Format, history: readonly Message[], tools: readonly string[] = []) =>
    anthropic.beta.messages
      .create({
        model: `on/${model}`,
        max_tokens: 100,
        betas,
        tools: tools.map((name) => ({ name, input_schema, defer_loading: name === 'late' })),
        messages: [{ role: 'user', content: 'Hello' }, ...history, { role: 'user', content: 'Go on' }],
      })
      .withResponse();

  it.each(others)('tools that come and go are what is left at the end, at %s', async (format) => {
    const { response } = await ask(
      format,
      [
        change('tool_addition', reference('late')),
        change('tool_addition', { type: 'tool_definition', definition: { name: 'by_value', input_schema } }),
        change('tool_removal', reference('gone')),
        change('tool_removal', reference('back')),
        change('tool_addition', reference('back')),
      ],
      ['kept', 'late', 'gone', 'back'],
    );
    const foundNames = ['kept', 'late', 'by_value', 'back', 'gone'].filter((name) => sentText().includes(`"${name}"`));
    expect([foundNames, leftOutOf(response)]).toEqual([['kept', 'late', 'by_value', 'back'], 'betas']);
  });

  it.each(others)('blocks without a meaning for another model are left out, and reported, at %s', async (format) => {
    const assistant = {
      role: 'assistant',
      content: [
        { type: 'fallback', from: { model: 'claude-opus-5-5' }, to: { model: 'claude-opus-5' } },
        { type: 'mcp_tool_listing', mcp_server_name: 'files', tools: [{ name: 'read', input_schema: {} }] },
        { type: 'text', text: 'I had a look.' },
      ],
    } as unknown as Message;
    const { response } = await ask(format, [assistant]);
    expect(leftOutOf(response).split(',').toSorted()).toEqual([
      'betas',
      'messages[1].content[0]',
      'messages[1].content[1]',
    ]);
    expect(sentText()).toContain('I had a look.');
    expect(sentText()).not.toMatch(/opus|files/);
  });

  it('a tool that a provider runs costs what it costs, wherever it is declared', async () => {
    const definition = { type: 'web_search_20260318', name: 'web_search' };
    const history = [change('tool_addition', { type: 'tool_definition', definition })];
    await expect(ask('messages', history)).rejects.toMatchObject({ status: 400 });
    await expect(ask('messages', history)).rejects.toThrow(/messages\[1\]\.content\[0\].*web_search/s);
    expect(gateway.simulator.calls).toEqual([]);
  });

  it('a relay gets them as they came', async () => {
    const addition = change('tool_addition', reference('late'));
    const response = await gateway.postTo('/messages', {
      model: 'on/messages',
      max_tokens: 100,
      tools: [{ name: 'late', input_schema }],
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'system', content: addition.content },
      ],
    });
    expect([response.status, sentText()]).toEqual([200, expect.stringContaining('"tool_addition"')]);
  });
});

describe('Responses', () => {
  const others = ['messages', 'converse', 'generate-content', 'chat-completions'] as const satisfies Format[];
  type Input = OpenAI.Responses.ResponseInputItem;
  const ask = (model: Format, ...items: object[]) =>
    openai.responses
      .create({
        model: `on/${model}`,
        input: [{ role: 'user', content: 'Hello' }, ...(items as Input[]), { role: 'user', content: 'Go on' }],
      })
      .withResponse();

  it.each(others)('items without a meaning for another model are left out, and reported, at %s', async (format) => {
    const { response } = await ask(
      format,
      { type: 'configuration_update', reasoning: { effort: 'high' } },
      { type: 'program', id: 'p1', call_id: 'c1', code: 'secret()', fingerprint: 'f' },
      { type: 'program_output', id: 'o1', call_id: 'c1', result: '42', status: 'completed' },
      { type: 'item_reference', id: 'rs_gw_0190_0' },
      { id: 'rs_gw_0190_1' },
    );
    expect(leftOutOf(response)).toBe('input[1],input[2],input[3],input[4],input[5]');
    expect(sentText()).not.toMatch(/secret|rs_gw/);
  });

  it.each(['responses', ...others] as const)(
    'a reference to a message of ours is refused with its remedy, at %s',
    async (format) => {
      for (const reference of [{ type: 'item_reference', id: 'msg_gw_0190_1' }, { id: 'fc_gw_0190_2' }]) {
        await expect(ask(format, reference)).rejects.toMatchObject({
          status: 400,
          code: 'invalid_request',
          param: 'input[1]',
          message: expect.stringContaining('store: false'),
        });
      }
      expect(gateway.simulator.calls).toEqual([]);
    },
  );
});
