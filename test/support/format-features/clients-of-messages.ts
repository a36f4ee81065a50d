// Features of clients of Messages.
import { png } from '../png.ts';
import { type ClientRow, carried, dropped, emulated, everywhere, refusal } from './client-row.ts';
import type { Json } from './feature-row.ts';

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const weather: Json = { name: 'get_weather', input_schema: city };
const tools = [weather];
const base64 = png(8, 8).split(',')[1] ?? '';
const user = (...content: Json[]): Json => ({ role: 'user', content });
const assistant = (...content: Json[]): Json => ({ role: 'assistant', content });
const text = (words: string, more: Json = {}): Json => ({ type: 'text', text: words, ...more });
const image = (source: Json): Json => ({ type: 'image', source });
const document = (source: Json, more: Json = {}): Json => ({ type: 'document', source, ...more });
const saying = (...messages: Json[]): Json => ({ messages });
const bringing = (...content: Json[]): Json => saying(user(...content, text('Hello')));
const toolUse = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Rome' } };
const result = (content: unknown, more: Json = {}): Json => ({
  type: 'tool_result',
  tool_use_id: 'toolu_1',
  content,
  ...more,
});
const webSearch = { type: 'web_search_20250305', name: 'web_search' };
const longName = `mcp__${'a_server_with_a_long_name_'.repeat(3)}__read`;
const ephemeral = { cache_control: { type: 'ephemeral' } };
const broughtPath = 'messages[0].content[0]';

export const clientsOfMessages: readonly ClientRow<'messages'>[] = [
  {
    feature: '`system`',
    asks: { system: [text('Be brief.'), text('Be kind.')] },
    becomes: everywhere(carried('Be brief.', 'Be kind.')),
  },
  {
    feature: 'a message of `system` later',
    asks: saying(
      user(text('Hello')),
      assistant(text('Hi.')),
      { role: 'system', content: 'Be kind.' },
      user(text('Go on.')),
    ),
    becomes: { ...everywhere(emulated('Be kind.')), responses: carried('Be kind.') },
  },
  {
    feature: 'a history that begins with the assistant',
    asks: saying(assistant(text('I began.')), user(text('Go on.'))),
    becomes: everywhere(carried('I began.', 'Go on.')),
  },
  {
    feature: 'image as bytes',
    asks: bringing(image({ type: 'base64', media_type: 'image/png', data: base64 })),
    becomes: everywhere(carried(base64)),
  },
  {
    feature: 'image at a URL',
    asks: bringing(image({ type: 'url', url: 'https://example.com/a.png' })),
    becomes: { ...everywhere(carried('https://example.com/a.png')), converse: refusal(broughtPath) },
  },
  {
    feature: 'PDF as bytes',
    asks: bringing(document({ type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }, { title: 'report' })),
    becomes: everywhere(carried('JVBERi0=')),
  },
  {
    feature: 'PDF at a URL',
    asks: bringing(document({ type: 'url', url: 'https://example.com/a.pdf' })),
    becomes: {
      ...everywhere(carried('https://example.com/a.pdf')),
      converse: refusal(broughtPath),
      'chat-completions': refusal(broughtPath),
    },
  },
  {
    feature: 'documents of text, search results',
    asks: bringing(document({ type: 'text', media_type: 'text/plain', data: 'Once.' }, { title: 'A tale' }), {
      type: 'search_result',
      source: 'https://example.com',
      title: 'Found',
      content: [text('Twice.')],
    }),
    becomes: everywhere(carried('Once.', 'A tale', 'Twice.', 'Found')),
  },
  {
    feature: '`tools`, `strict`',
    asks: {
      tools: [
        { ...weather, description: 'Tells it.', strict: true, input_schema: { ...city, additionalProperties: false } },
      ],
    },
    becomes: everywhere(carried('get_weather', 'Tells it.', 'city')),
  },
  {
    feature: '`tool_choice`',
    asks: { tool_choice: { type: 'tool', name: 'get_weather' } },
    beside: { tools },
    becomes: everywhere(carried()),
  },
  {
    feature: '`disable_parallel_tool_use`',
    asks: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    beside: { tools, tool_choice: { type: 'auto' } },
    becomes: {
      responses: carried('"parallel_tool_calls":false'),
      converse: carried('"disable_parallel_tool_use":true'),
      'generate-content': dropped('tool_choice.disable_parallel_tool_use'),
      'chat-completions': carried('"parallel_tool_calls":false'),
    },
  },
  {
    feature: 'calls and results, failed ones too, with images',
    asks: saying(
      user(text('Hello')),
      assistant(text('So.'), toolUse),
      user(
        result([text('Rain.'), image({ type: 'base64', media_type: 'image/png', data: base64 })], { is_error: true }),
      ),
    ),
    beside: { tools },
    becomes: everywhere(carried('Rome', 'Rain.', base64, /fail|error/)),
  },
  {
    feature: 'results without their calls',
    asks: saying(user(result('Rain.'), text('Hello'))),
    beside: { tools },
    becomes: everywhere(emulated('Rain.')),
  },
  {
    feature: '`thinking`, `output_config.effort`',
    asks: { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
    isThinker: true,
    becomes: {
      responses: carried('"effort":"low"'),
      converse: carried('"budget_tokens":'),
      'generate-content': carried('"thinkingLevel":"low"'),
      'chat-completions': carried('"reasoning_effort":"low"'),
    },
  },
  { feature: '`max_tokens`', asks: { max_tokens: 77 }, becomes: everywhere(carried(/[tT]okens":77\b/)) },
  {
    feature: '`stop_sequences`',
    asks: { stop_sequences: ['ENDHERE'] },
    becomes: { ...everywhere(carried('ENDHERE')), responses: emulated() },
  },
  {
    feature: 'more than 64 `stop_sequences`',
    asks: { stop_sequences: Array.from({ length: 65 }, (_, index) => `END${index}.`) },
    becomes: {
      ...everywhere(carried('END64.')),
      responses: refusal('stop_sequences'),
      'chat-completions': refusal('stop_sequences'),
    },
  },
  {
    feature: 'one of `stop_sequences` of more than 256 characters',
    asks: { stop_sequences: ['E'.repeat(257)] },
    becomes: { ...everywhere(carried('E'.repeat(257))), responses: refusal('stop_sequences') },
  },
  {
    feature: 'a request to compact (`compaction`)',
    asks: { compaction: { type: 'summarize' } },
    becomes: everywhere(refusal('compaction')),
  },
  {
    feature: 'the effort and the life of one message',
    beside: {
      messages: [
        { role: 'user', content: 'Hi.' },
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'And?' },
      ],
    },
    asks: {
      messages: [
        { role: 'user', content: 'Hi.' },
        { role: 'system', content: 'Be brief.', clear_at: 'next_user_message', output_config: { effort: 'low' } },
        { role: 'user', content: 'And?' },
      ],
    },
    becomes: everywhere(dropped('messages[1].clear_at', 'messages[1].output_config.effort')),
  },
  { feature: '`temperature`', asks: { temperature: 0.25 }, becomes: everywhere(carried('"temperature":0.25')) },
  { feature: '`top_p`', asks: { top_p: 0.5 }, becomes: everywhere(carried(/"top_?[pP]":0.5/)) },
  {
    feature: '`top_k`',
    asks: { top_k: 5 },
    becomes: { ...everywhere(dropped('top_k')), 'generate-content': carried('"topK":5') },
  },
  {
    feature: '`output_config.format`',
    asks: { output_config: { format: { type: 'json_schema', schema: { ...city, additionalProperties: false } } } },
    becomes: everywhere(carried('city')),
  },
  {
    feature: '`metadata.user_id`',
    asks: { metadata: { user_id: 'someone' } },
    becomes: { ...everywhere(dropped('metadata')), responses: carried('someone') },
  },
  {
    feature: '`cache_control` of a block',
    asks: bringing(text('Long.', ephemeral)),
    beside: bringing(text('Long.')),
    becomes: { ...everywhere(dropped(`${broughtPath}.cache_control`)), converse: carried('cachePoint') },
  },
  {
    feature: '`cache_control` of a request',
    asks: ephemeral,
    becomes: { ...everywhere(dropped('cache_control')), converse: carried('cachePoint') },
  },
  {
    feature: '`context_management`, `service_tier`, `diagnostics`',
    asks: {
      context_management: { edits: [] },
      service_tier: 'auto',
      diagnostics: { previous_message_id: 'm' },
    },
    becomes: everywhere(dropped('context_management', 'diagnostics', 'service_tier')),
  },
  {
    feature: 'any other member, also of `tools`, `thinking`, `output_config`',
    asks: {
      made_up: 1,
      tools: [{ ...weather, input_examples: [{ city: 'Rome' }] }],
      output_config: { task_budget: { type: 'tokens', total: 9 } },
    },
    beside: { tools },
    becomes: everywhere(dropped('made_up', 'output_config.task_budget', 'tools.input_examples')),
  },
  {
    feature: 'citations',
    asks: bringing(
      document({ type: 'text', media_type: 'text/plain', data: 'Once.' }, { citations: { enabled: true } }),
    ),
    beside: bringing(document({ type: 'text', media_type: 'text/plain', data: 'Once.' })),
    becomes: everywhere(dropped(`${broughtPath}.citations`)),
  },
  { feature: 'betas', asks: {}, headers: { 'anthropic-beta': 'new-2026' }, becomes: everywhere(dropped('betas')) },
  {
    feature: 'tools of a provider that may be called',
    asks: { tools: [weather, webSearch] },
    beside: { tools },
    becomes: everywhere(dropped('tools.web_search')),
  },
  {
    feature: 'tools of a provider that must be called',
    asks: { tools: [webSearch], tool_choice: { type: 'any' } },
    becomes: everywhere(refusal('tool_choice')),
  },
  {
    feature: 'what a provider ran, in history',
    asks: saying(
      user(text('Hello')),
      assistant(
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'Rome' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: [{ type: 'web_search_result', title: 'Seven hills' }],
        },
        text('So.'),
      ),
      user(text('Go on.')),
    ),
    becomes: everywhere(emulated('Rome', 'Seven hills')),
  },
  {
    feature: 'names of tools that are too long',
    asks: { tools: [{ ...weather, name: longName }] },
    becomes: everywhere(emulated(longName.slice(0, 50))),
  },
  {
    feature: 'deferred tools, `tool_reference`',
    asks: {
      tools: [{ ...weather, defer_loading: true }],
      ...saying(
        user(text('Hello')),
        assistant(toolUse),
        user(result([{ type: 'tool_reference', tool_name: 'get_weather' }])),
      ),
    },
    becomes: everywhere(emulated('get_weather', 'Tool found: get_weather')),
  },
  { feature: '`thread`', asks: { thread: { type: 'create' } }, becomes: everywhere(refusal('thread')) },
  {
    feature: '`mcp_servers`',
    asks: { mcp_servers: [{ type: 'url', url: 'https://mcp.example', name: 'm' }] },
    becomes: everywhere(refusal('mcp_servers')),
  },
  { feature: '`container`', asks: { container: 'container_1' }, becomes: everywhere(refusal('container')) },
  {
    feature: 'file ids',
    asks: bringing(document({ type: 'file', file_id: 'file_1' })),
    becomes: everywhere(refusal(broughtPath)),
  },
  {
    feature: 'compactions',
    asks: saying(user(text('Hello')), assistant({ type: 'compaction', content: 'So far.' }), user(text('Go on.'))),
    becomes: everywhere(refusal('messages[1].content[0]')),
  },
  {
    feature: 'blocks of another type',
    asks: bringing({ type: 'hologram', data: 'x' }),
    becomes: everywhere(refusal(broughtPath)),
  },
];
