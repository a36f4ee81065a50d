// What of a request may cost more than its tokens, on every interface: nothing of it passes without the operator's consent, and
// what clients run themselves needs none.
import { describe, expect, it } from '#jest';
import { chatCompletions } from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import type { ClientInterface } from '../../../shared/protocol/interfaces/index.ts';
import { messages } from '../../../shared/protocol/interfaces/messages/index.ts';
import { responses } from '../../../shared/protocol/interfaces/responses/index.ts';
import { jsonTextOf } from '../../../shared/protocol/wire/index.ts';

type Json = Record<string, unknown>;

const interfaces: Readonly<Record<string, ClientInterface>> = { chat: chatCompletions, messages, responses };
const leastOf: Readonly<Record<string, Json>> = {
  chat: { messages: [{ role: 'user', content: 'Hi' }] },
  messages: { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 9 },
  responses: { input: 'Hi' },
};
const everywhere = Object.keys(interfaces);

/** Each extra that the request needs, with the member or the header that asks for it. */
function extrasOf(name: string, members: Json, betas?: string): string[] {
  const body = jsonTextOf({ model: 'm', ...leastOf[name], ...members });
  const read = interfaces[name]?.readRequest(body, { bodyBytes: 9, dropsIdleMembers: false, betas });
  if (read === undefined || !('needs' in read)) throw read;
  const extras = read.needs().features.filter((feature) => 'extra' in feature);
  return extras.map((feature) => `${feature.extra} ${'member' in feature ? feature.member : feature.header}`);
}

const tool = (...tools: unknown[]) => ({ tools });
const namespace = (...tools: unknown[]) => ({ type: 'namespace', name: 'n', tools });
const skills = { skills: [{ type: 'anthropic', skill_id: 'pptx' }] };

const everywhereDearer: readonly (readonly [string, Json, string])[] = [
  ['web_search', tool({ type: 'web_search' }), 'tools[0]'],
  ['web_search', tool({ type: 'web_search_preview_2025_03_11' }), 'tools[0]'],
  ['web_search', tool({ type: 'web_search_20260209', name: 'web_search' }), 'tools[0]'],
  ['web_search', tool({ type: 'function', name: 'f' }, { type: 'openrouter:web_search' }), 'tools[1]'],
  ['web_search', tool({ type: 'builtin_function', function: { name: '$web_search' } }), 'tools[0]'],
  ['web_search', tool({ type: 'function', function: { name: '$web_search' } }), 'tools[0]'],
  ['web_search', tool(namespace({ type: 'function', name: 'f' }, namespace({ type: 'web_search' }))), 'tools[0]'],
  ['web_search', tool({ type: 'x_search' }), 'tools[0]'],
  ['web_search', { search_parameters: { mode: 'auto' } }, 'search_parameters'],
  ['web_search', { enable_search: true }, 'enable_search'],
  ['web_search', { web_search_options: {} }, 'web_search_options'],
  ['file_search', tool({ type: 'file_search', vector_store_ids: ['v'] }), 'tools[0]'],
  ['code_interpreter', tool({ type: 'code_interpreter', container: { type: 'auto' } }), 'tools[0]'],
  ['image_generation', tool({ type: 'image_generation' }), 'tools[0]'],
  ['mcp', tool({ type: 'mcp', server_label: 's' }), 'tools[0]'],
  ['mcp', tool({ type: 'mcp_toolset', mcp_server_name: 's' }), 'tools[0]'],
  ['web_fetch', tool({ type: 'web_fetch_20260309', name: 'web_fetch' }), 'tools[0]'],
  ['code_execution', tool({ type: 'code_execution_20260120', name: 'code_execution' }), 'tools[0]'],
  ['code_execution', { container: skills }, 'container'],
  ['advisor', tool({ type: 'advisor_20260301', name: 'advisor', model: 'larger' }), 'tools[0]'],
  ['fallbacks', { fallbacks: [{ model: 'larger' }] }, 'fallbacks'],
  ['shell', tool({ type: 'shell', environment: { type: 'container_auto' } }), 'tools[0]'],
  ['shell', tool({ type: 'shell', environment: { type: 'container_reference', container_id: 'c' } }), 'tools[0]'],
  ['other_tools', tool({ type: 'hologram_20270101', name: 'hologram' }), 'tools[0]'],
  ['other_tools', tool({ googleSearch: {} }), 'tools[0]'],
  ['other_tools', tool({ type: 'functions', name: 'f' }), 'tools[0]'],
  ['plugins', { plugins: [{ id: 'web' }] }, 'plugins'],
  ['service_tier', { service_tier: 'priority' }, 'service_tier'],
  ['service_tier', { speed: 'fast' }, 'speed'],
  ['long_context', { anthropic_beta: ['context-1m-2025-08-07'] }, 'anthropic_beta'],
];

const inResponsesOnly: readonly (readonly [string, Json, string])[] = [
  ['prompt', { prompt: { id: 'pmpt_1' } }, 'prompt'],
  [
    'web_search',
    { input: [{ type: 'tool_search_output', tools: [namespace({ type: 'web_search' })] }] },
    'input[0].tools[0]',
  ],
  [
    'code_interpreter',
    {
      input: [
        { role: 'user', content: 'Hi' },
        { type: 'additional_tools', tools: [{ type: 'code_interpreter' }] },
      ],
    },
    'input[1].tools[0]',
  ],
];

describe('a request', () => {
  it.each(everywhereDearer)('needs the extra %s for %j, whatever the interface', (extra, members, member) => {
    for (const name of everywhere) expect([name, extrasOf(name, members)]).toEqual([name, [`${extra} ${member}`]]);
  });

  it.each(inResponsesOnly)('of Responses needs the extra %s for %j', (extra, members, member) => {
    expect(extrasOf('responses', members)).toEqual([`${extra} ${member}`]);
  });

  it('needs an extra for a beta that moves the window or adds a model, and for no other', () => {
    const betas = 'claude-code-20250219, context-1m-2025-08-07,effort-2025-11-24,advisor-tool-2026-03-01';
    const extras = ['long_context anthropic-beta', 'advisor anthropic-beta'];
    for (const name of ['messages', 'responses']) expect(extrasOf(name, {}, betas)).toEqual(extras);
    expect(extrasOf('messages', {}, 'context-management-2025-06-27,never-heard-of-2027')).toEqual([]);
  });

  it('needs none for tools that the client runs, and for members that ask for nothing', () => {
    const clientTools = [
      { type: 'function', name: 'f', function: { name: 'f' }, parameters: {} },
      { type: 'custom', name: 'apply_patch' },
      { name: 'get_weather', input_schema: { type: 'object' } },
      { type: null, name: 'get_time' },
      namespace({ type: 'function', name: 'f' }),
      ...['local_shell', 'apply_patch', 'computer', 'computer_use_preview', 'computer-preview', 'tool_search'],
      ...[
        'bash_20250124',
        'text_editor_20250728',
        'memory_20250818',
        'computer_20251124',
        'tool_search_tool_bm25_20251119',
      ],
      'shell',
    ].map((one) => (typeof one === 'string' ? { type: one, name: 'n' } : one));
    const shell = { type: 'shell', environment: { type: 'local', skills: [] } };
    const idle = {
      ...{ plugins: [], mcp_servers: [], web_search_options: null, enable_search: false, container: null },
      ...{ search_parameters: { mode: 'off' }, fallbacks: [], speed: 'standard', service_tier: 'flex' },
    };
    for (const name of everywhere) {
      expect([name, extrasOf(name, { tools: [...clientTools, shell], ...idle })]).toEqual([name, []]);
    }
  });

  it('that declares ten thousand tools of the provider names each extra once', () => {
    const tools = Array.from({ length: 10_000 }, (_, index) => ({ type: index % 2 === 0 ? 'web_search' : 'mcp' }));
    expect(extrasOf('responses', { tools })).toEqual(['web_search tools[0]', 'mcp tools[1]']);
  });
});
