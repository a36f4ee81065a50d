// Features of clients of Responses.
import { png } from '../png.ts';
import { type ClientRow, carried, dropped, emulated, everywhere, refusal } from './client-row.ts';
import type { Json } from './feature-row.ts';

const city = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const weather: Json = { type: 'function', name: 'get_weather', parameters: city, strict: false };
const tools = [weather];
const picture = png(8, 8);
const base64 = picture.split(',')[1] ?? '';
const user = (...content: Json[]): Json => ({ role: 'user', content });
const text = (words: string): Json => ({ type: 'input_text', text: words });
const asking = (...input: Json[]): Json => ({ input });
const bringing = (...content: Json[]): Json => asking(user(...content, text('Hello')));
const ask = user(text('Hello'));
const functionCall: Json = {
  type: 'function_call',
  call_id: 'call_1',
  name: 'get_weather',
  arguments: '{"city":"Rome"}',
};
const result = (output: unknown, more: Json = {}): Json => ({
  type: 'function_call_output',
  call_id: 'call_1',
  output,
  ...more,
});
const patch: Json = {
  type: 'custom',
  name: 'apply_text',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "END OF GRAMMAR"' },
};
const broughtPath = 'input[0].content[0]';
const image = (url: string): Json => ({ type: 'input_image', image_url: url, detail: 'auto' });
const pdf = { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' };

export const clientsOfResponses: readonly ClientRow<'responses'>[] = [
  { feature: '`instructions`', asks: { instructions: 'Be brief.' }, becomes: everywhere(carried('Be brief.')) },
  {
    feature: 'messages of `developer` and `system` later',
    asks: asking(
      ask,
      { role: 'assistant', content: 'Hi.' },
      { role: 'developer', content: 'Be kind.' },
      user(text('Go on.')),
    ),
    becomes: everywhere(emulated('Be kind.')),
  },
  {
    feature: 'a history that begins with the assistant',
    asks: asking({ role: 'assistant', content: 'I began.' }, user(text('Go on.'))),
    becomes: everywhere(carried('I began.', 'Go on.')),
  },
  { feature: 'image as bytes', asks: bringing(image(picture)), becomes: everywhere(carried(base64)) },
  {
    feature: 'image at a URL',
    asks: bringing(image('https://example.com/a.png')),
    becomes: { ...everywhere(carried('https://example.com/a.png')), converse: refusal(broughtPath) },
  },
  { feature: 'PDF as bytes', asks: bringing(pdf), becomes: everywhere(carried('JVBERi0=')) },
  {
    feature: 'PDF at a URL',
    asks: bringing({ type: 'input_file', file_url: 'https://example.com/a.pdf' }),
    becomes: {
      ...everywhere(carried('https://example.com/a.pdf')),
      converse: refusal(broughtPath),
      'chat-completions': refusal(broughtPath),
    },
  },
  {
    feature: 'audio',
    asks: bringing({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }),
    becomes: { ...everywhere(refusal(broughtPath)), 'generate-content': carried('AAAA') },
  },
  {
    feature: '`tools` of the type `function`, `strict`',
    asks: { tools: [{ ...weather, description: 'Tells it.', strict: true }] },
    becomes: everywhere(carried('get_weather', 'Tells it.', 'city')),
  },
  {
    feature: '`tool_choice`, also `allowed_tools`',
    asks: {
      tools: [weather, { ...weather, name: 'get_time' }],
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'get_time' }] },
    },
    becomes: everywhere(carried('get_time')),
  },
  {
    feature: '`parallel_tool_calls: false`',
    asks: { parallel_tool_calls: false },
    beside: { tools },
    becomes: {
      messages: carried('"disable_parallel_tool_use":true'),
      converse: carried('"disable_parallel_tool_use":true'),
      'generate-content': dropped('parallel_tool_calls'),
      'chat-completions': carried('"parallel_tool_calls":false'),
    },
  },
  {
    feature: 'calls and results with images',
    asks: asking(ask, functionCall, result([text('Rain.'), image(picture)])),
    beside: { tools },
    becomes: everywhere(carried('Rome', 'Rain.', base64)),
  },
  {
    feature: 'results apart from their calls, or without them',
    asks: asking(functionCall, ask, result('Rain.'), {
      type: 'function_call_output',
      call_id: 'call_lost',
      output: 'Hail.',
    }),
    beside: { tools },
    becomes: everywhere(emulated('Rain.', 'Hail.')),
  },
  {
    feature: '`reasoning.effort`',
    asks: { reasoning: { effort: 'low', summary: 'auto' } },
    isThinker: true,
    becomes: {
      messages: carried('"budget_tokens":'),
      converse: carried('"budget_tokens":'),
      'generate-content': carried('"thinkingLevel":"low"'),
      'chat-completions': carried('"reasoning_effort":"low"'),
    },
  },
  { feature: '`max_output_tokens`', asks: { max_output_tokens: 77 }, becomes: everywhere(carried(/[tT]okens":77\b/)) },
  {
    feature: '`generate: false`, `prompt_cache_options.prewarm`',
    asks: { generate: false, prompt_cache_options: { prewarm: true } },
    becomes: everywhere(refusal('generate')),
  },
  { feature: '`temperature`', asks: { temperature: 0.25 }, becomes: everywhere(carried('"temperature":0.25')) },
  { feature: '`top_p`', asks: { top_p: 0.5 }, becomes: everywhere(carried(/"top_?[pP]":0.5/)) },
  {
    feature: '`text.format`',
    asks: { text: { format: { type: 'json_schema', name: 'place', schema: city } } },
    becomes: everywhere(carried('city')),
  },
  {
    feature: '`custom` tools, their calls and results',
    asks: {
      tools: [patch],
      ...asking(
        ask,
        { type: 'custom_tool_call', call_id: 'call_1', name: 'apply_text', input: 'one line' },
        { type: 'custom_tool_call_output', call_id: 'call_1', output: 'Done.' },
      ),
    },
    becomes: everywhere(emulated('apply_text', 'END OF GRAMMAR', 'one line', 'Done.')),
  },
  {
    feature: 'tools of a namespace',
    asks: {
      tools: [{ type: 'namespace', name: 'mcp__files', description: 'Files', tools: [{ ...weather, name: 'read' }] }],
      ...asking(ask, { ...functionCall, name: 'read', namespace: 'mcp__files' }, result('Rain.')),
    },
    becomes: everywhere(emulated('mcp__files__read')),
  },
  {
    feature: 'deferred and additional tools, and those that a search found',
    asks: {
      tools: [
        { ...weather, defer_loading: true },
        { type: 'tool_search', execution: 'client', parameters: city },
      ],
      ...asking(
        { type: 'additional_tools', role: 'developer', tools: [{ ...weather, name: 'added' }] },
        ask,
        { type: 'tool_search_call', call_id: 'call_2', execution: 'client', arguments: { query: 'x' } },
        { type: 'tool_search_output', call_id: 'call_2', execution: 'client', tools: [{ ...weather, name: 'found' }] },
      ),
    },
    becomes: everywhere(emulated('get_weather', 'tool_search', 'added', 'found')),
  },
  {
    feature: '`local_shell`, `shell`, `apply_patch`',
    asks: {
      tools: [{ type: 'local_shell' }, { type: 'apply_patch' }],
      ...asking(
        ask,
        {
          type: 'local_shell_call',
          call_id: 'call_1',
          status: 'completed',
          action: { type: 'exec', command: ['ls', '-la'], env: {} },
        },
        { type: 'local_shell_call_output', call_id: 'call_1', id: 'call_1', output: 'one file' },
      ),
    },
    becomes: everywhere(emulated('local_shell', 'apply_patch', '-la', 'one file')),
  },
  {
    feature: 'what a provider ran, in history',
    asks: asking(
      ask,
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'Rome' } },
      { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: base64 },
      { role: 'assistant', content: 'So.' },
      user(text('Go on.')),
    ),
    becomes: { ...everywhere(emulated('Rome', base64)) },
  },
  {
    feature: 'tools of a provider that may be called',
    asks: { tools: [weather, { type: 'web_search' }, { type: 'image_generation' }] },
    beside: { tools },
    becomes: everywhere(dropped('tools.image_generation', 'tools.web_search')),
  },
  {
    feature: 'tools of a provider that must be called',
    asks: { tools: [weather, { type: 'web_search' }], tool_choice: { type: 'web_search' } },
    becomes: everywhere(refusal('tool_choice')),
  },
  {
    feature: '`user`, `safety_identifier`',
    asks: { user: 'u', safety_identifier: 's' },
    becomes: { ...everywhere(dropped('safety_identifier', 'user')), messages: carried('user_id') },
  },
  {
    feature: '`metadata`, `prompt_cache_key`, `include`, `text.verbosity`',
    asks: {
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
      include: ['reasoning.encrypted_content'],
      text: { verbosity: 'low' },
    },
    becomes: everywhere(dropped('include', 'metadata', 'prompt_cache_key', 'text.verbosity')),
  },
  {
    feature: '`truncation: auto`, `store: true`, any other member, also of `reasoning`',
    asks: { truncation: 'auto', store: true, made_up: 1, max_tool_calls: 3, reasoning: { context: 'all_turns' } },
    becomes: everywhere(dropped('made_up', 'max_tool_calls', 'reasoning.context', 'store', 'truncation')),
  },
  { feature: 'betas', asks: {}, headers: { 'openai-beta': 'new=2026' }, becomes: everywhere(dropped('betas')) },
  {
    feature: '`previous_response_id`',
    asks: { previous_response_id: 'resp_1' },
    becomes: everywhere(refusal('previous_response_id')),
  },
  { feature: '`conversation`', asks: { conversation: 'conv_1' }, becomes: everywhere(refusal('conversation')) },
  { feature: 'a stored `prompt`', asks: { prompt: { id: 'pmpt_1' } }, becomes: everywhere(refusal('prompt')) },
  {
    feature: '`item_reference`',
    asks: asking(ask, { type: 'item_reference', id: 'msg_1' }),
    becomes: everywhere(refusal('input[1]')),
  },
  {
    feature: 'file ids',
    asks: bringing({ type: 'input_file', file_id: 'file_1' }),
    becomes: everywhere(refusal(broughtPath)),
  },
  {
    feature: 'compactions',
    asks: asking(ask, { type: 'compaction', encrypted_content: 'x' }),
    becomes: everywhere(refusal('input[1]')),
  },
  {
    feature: 'items and parts of another type',
    asks: asking(ask, { type: 'hologram', text: 'x' }),
    becomes: everywhere(refusal('input[1]')),
  },
  { feature: '`top_logprobs`', asks: { top_logprobs: 2 }, becomes: everywhere(refusal('top_logprobs')) },
];
