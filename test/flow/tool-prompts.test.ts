// Tokens that a host of Claude adds to a prompt for tools are reserved on every interface and in every format: no small
// body costs more than its reservation.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type Harness, startHarness } from '../support/harness.ts';

type Json = Record<string, unknown>;

const formats = ['chat-completions', 'messages', 'converse', 'responses'] as const;
const clients = {
  '/chat/completions': {
    body: { messages: [{ role: 'user', content: 'Hi.' }] },
    bound: 'max_tokens',
    tools: [{ type: 'function', function: { name: 'f' } }],
    added: 804,
    json: { response_format: { type: 'json_object' } },
  },
  '/messages': {
    body: { messages: [{ role: 'user', content: 'Hi.' }] },
    bound: 'max_tokens',
    tools: [
      { type: 'computer_20250124', name: 'computer', display_width_px: 1, display_height_px: 1 },
      { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
      { type: 'bash_20250124', name: 'bash' },
      { type: 'computer_toolset_20260801' },
      { type: 'browser_toolset_20260801' },
      // Nothing is documented about these tools.
      { type: 'memory_20250818', name: 'memory' },
      { type: 'bash_toolset_20270101' },
    ],
    added: 804 + 1_234 + 700 + 325 + 4_590 + 7_550 + 1_234 + 7_550,
    json: { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
  },
  '/responses': {
    body: { input: 'Hi.' },
    bound: 'max_output_tokens',
    tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }],
    added: 804,
    json: { text: { format: { type: 'json_object' } } },
  },
} as const;

let gateway: Harness;
beforeAll(async () => {
  const more = {
    // One token of input costs one dollar, so the reservation is a count of tokens.
    input_price_per_million: '1000000',
    supported_params: { tools: true, json_mode: true, json_schema: true },
  };
  const route = (provider: string, upstream: string) => [{ provider, upstream, more }];
  gateway = await startHarness({
    models: Object.fromEntries(
      formats.flatMap((format) => [
        [`${format}/claude-opus-4-7`, route(format, 'echo')],
        [`by-host/${format}`, route(format, 'eu.anthropic.claude-sonnet-4-5')],
        [`other/${format}`, route(format, 'echo')],
      ]),
    ),
    providers: Object.fromEntries(formats.map((format) => [format, { apis: [format] }])),
    workspace: { credit_usd: '1' },
  });
});
afterAll(() => gateway.stop());

describe.each(formats)('at a provider that speaks %s', (format) => {
  it.each(Object.entries(clients))(
    'what tools add for clients of %s is reserved for Claude alone',
    async (path, client) => {
      const reserved = async (model: string, more: Json) => {
        const response = await gateway.postTo(path, { model, ...client.body, [client.bound]: 16, ...more });
        const text = await response.text();
        expect([response.status, text]).toMatchObject([402, {}]);
        return Number(/may cost (\d+)/.exec(text)?.[1]);
      };
      const addedTokens = async (more: Json) => {
        const others = await reserved(`other/${format}`, more);
        const [byModel, byHost] = [`${format}/claude-opus-4-7`, `by-host/${format}`];
        // The model's id is part of the body, so its length counts.
        return Promise.all(
          [byModel, byHost].map(
            async (model) => (await reserved(model, more)) - others - model.length + `other/${format}`.length,
          ),
        );
      };
      expect(await addedTokens({})).toEqual([0, 0]);
      expect(await addedTokens({ tools: client.tools })).toEqual([client.added, client.added]);
      expect(await addedTokens(client.json)).toEqual([804, 804]);
    },
  );
});
