// Parts of a request that reach a provider of each format.

import { encryptedBy, redactedReasoning, signatureOf } from '../../../infra/local/simulator/signature.ts';
import { png } from '../png.ts';
import {
  type Any,
  type Cell,
  cell,
  everywhere,
  type FeatureRow,
  type Json,
  leavesOut,
  leftOut,
  no,
  passesOver,
  row,
  sends,
  yes,
} from './feature-row.ts';

const user = (content: unknown, more: Json = {}): Json => ({ role: 'user', content, ...more });
const text = (words: string, more: Json = {}): Json => ({ type: 'text', text: words, ...more });
const messages = (...list: Json[]): Json => ({ messages: list });
/** Returns a message of the user that has these parts. */
const bringing = (...parts: Json[]): Json => messages(user([text('See'), ...parts]));
const image = (url: string): Json => ({ type: 'image_url', image_url: { url } });
const file = (file_data: string): Json => ({ type: 'file', file: { filename: 'a report.pdf', file_data } });
const dataUrl = (mediaType: string): string => `data:${mediaType};base64,JVBERi0=`;
/** The path of the added part in the request. */
const broughtPath = 'messages[0].content[1]';
/** Returns the same part in the sent request. */
const sentPart = (body: Any): Any => (body.messages ?? body.contents)[0][body.contents ? 'parts' : 'content'][1];

const inputPart = (body: Any): Any => body.input[0].content[1];

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const weather: Json = {
  type: 'function',
  function: { name: 'weather', description: 'Tells it.', parameters: city },
};
const time: Json = { type: 'function', function: { name: 'time' } };
const call = (id: string): Json => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: '{"city":"Köln"}' },
});
const calledTool = (result: unknown): Json[] => [
  user('Rain?'),
  { role: 'assistant', content: 'Looking.', tool_calls: [call('a')] },
  { role: 'tool', tool_call_id: 'a', content: result },
];
const smallPng = png(8, 8);
const pngBytes = smallPng.split(',')[1];
const pictured = calledTool([text('See:'), image(smallPng)]);

const saying = (words: string) => (body: Any) =>
  (body.messages ?? body.contents).find((turn: Any) => JSON.stringify(turn).includes(words))?.role;
const asText = (body: Any) => [
  /toolUse|toolResult|toolConfig/.test(JSON.stringify(body)),
  saying('Köln')(body),
  saying('Rain.')(body),
];
const toolNames = (list: Any): unknown => list.map(({ name }: Any) => name);

const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
const asSchema: Json = { response_format: { type: 'json_schema', json_schema: { name: 'label', schema } } };
const anyObject = { type: 'object', additionalProperties: true };
const asAnyJson: Json = { response_format: { type: 'json_object' } };

/** The first model of each format accepts a number of thinking tokens, the second an effort. */
const withEffort = {
  messages: 'claude-opus-4-7',
  converse: 'amazon.nova-2-lite-v1:0',
  'generate-content': 'gemini-3-pro-preview',
  responses: 'gpt-5.4',
};
const thought = 'Let me see.';
const signature = signatureOf(thought);
const claudeDetails = [
  { type: 'reasoning.text', text: thought, signature, index: 0 },
  { type: 'reasoning.encrypted', data: redactedReasoning, index: 1 },
];
const format = 'google-gemini-v1';
const geminiDetails = [{ type: 'reasoning.encrypted', data: signatureOf('weather'), id: 'a', format, index: 0 }];
const encrypted = encryptedBy('gpt-5.4', thought);
/** Returns the thinking of a model of this provider. */
const openAiDetails = (provider: string): Json[] => {
  const of = `openai-responses-v1:${provider}:gpt-5.4`;
  return [
    { type: 'reasoning.text', text: thought, signature: 'rs_1', format: of, index: 0 },
    { type: 'reasoning.encrypted', data: `rs_1:${encrypted}`, format: of, index: 1 },
  ];
};
/** Returns a conversation with an answer, and one in which the answer carries these details. */
const thinking = (list: readonly Json[], reasoning_details: readonly Json[]) => ({
  asks: messages(...list.map((one) => (one.role === 'assistant' ? { ...one, reasoning_details } : one))),
  beside: messages(...list),
});
const brief: Json = { role: 'system', content: 'Be brief.' };
const talk = [user('Why?'), { role: 'assistant', content: 'So.' }, user('And?')];

const ephemeral: Json = { cache_control: { type: 'ephemeral' } };
const forAnHour: Json = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const instructed = (more: Json = {}): Json => ({ role: 'system', content: [text('Long.', more)] });

/** Fields that no format knows, the gateway's own fields, and fields that request nothing. */
const otherMembers: Json = {
  logit_bias: { 1: 2 },
  store: false,
  service_tier: 'flex',
  made_up: 1,
  provider: { sort: 'price' },
  cache: { enabled: false },
  usage: { include: true },
  n: 1,
  logprobs: false,
  temperature: null,
  tools: null,
  stop: null,
  response_format: { type: 'text' },
};

/** More stop sequences than the gateway itself applies. */
const manyStops = Array.from({ length: 65 }, (_, index) => `END${index}`);
const longStop = 'E'.repeat(257);

export const requestFeatures: readonly FeatureRow[] = [
  row(
    'system and developer messages at the start',
    [{ asks: messages({ role: 'system', content: 'One.' }, { role: 'developer', content: 'Two.' }, user('Hi.')) }],
    cell(
      '`system`',
      sends(({ system }) => system, [text('One.'), text('Two.')]),
    ),
    cell(
      '`system`',
      sends(({ system }) => system, [{ text: 'One.' }, { text: 'Two.' }]),
    ),
    cell(
      '`systemInstruction`',
      sends((body) => body.systemInstruction.parts, [{ text: 'One.' }, { text: 'Two.' }]),
    ),
    cell(
      'first items of `input`',
      sends(
        ({ input }) => input.slice(0, 2),
        [
          { role: 'system', content: 'One.' },
          { role: 'system', content: 'Two.' },
        ],
      ),
    ),
  ),
  row(
    'such a message later',
    [
      { asks: messages(...talk.slice(0, 2), brief) },
      // A tool's result must directly follow its call.
      { asks: messages(...calledTool('Rain.').toSpliced(2, 0, brief)), beside: { tools: [weather] } },
    ],
    cell(
      'text of the user',
      sends(saying('Be brief.'), 'user'),
      sends((body) => body.messages[2].content.map(({ type }: Any) => type), ['tool_result', 'text']),
    ),
    cell(
      'text of the user',
      sends(saying('Be brief.'), 'user'),
      sends((body) => body.messages[2].content.flatMap(Object.keys), ['toolResult', 'text']),
    ),
    cell(
      'text of the user',
      sends(saying('Be brief.'), 'user'),
      sends(
        (body) => body.contents.slice(2).flatMap(({ parts }: Any) => parts.flatMap(Object.keys)),
        ['functionResponse', 'text'],
      ),
    ),
    cell(
      'in its place',
      sends(({ input }) => input.at(-1), brief),
      sends(
        ({ input }) => input.slice(-2).map(({ type, role }: Any) => type ?? role),
        ['system', 'function_call_output'],
      ),
    ),
  ),
  row(
    'image as a data URL',
    [{ asks: bringing(image(smallPng)) }, { asks: bringing(image('data:image/jpg;base64,AAAA')) }],
    // The name is that of its kind, which providers know.
    yes(
      sends((body) => sentPart(body).source, { type: 'base64', media_type: 'image/png', data: pngBytes }),
      sends((body) => sentPart(body).source, { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' }),
    ),
    yes(
      sends((body) => sentPart(body).image, { format: 'png', source: { bytes: pngBytes } }),
      sends((body) => sentPart(body).image, { format: 'jpeg', source: { bytes: 'AAAA' } }),
    ),
    yes(
      sends((body) => sentPart(body).inlineData, { mimeType: 'image/png', data: pngBytes }),
      sends((body) => sentPart(body).inlineData, { mimeType: 'image/jpeg', data: 'AAAA' }),
    ),
    yes(
      sends(inputPart, { type: 'input_image', image_url: smallPng }),
      sends(inputPart, { type: 'input_image', image_url: 'data:image/jpeg;base64,AAAA' }),
    ),
  ),
  row(
    'image at a URL',
    [{ asks: bringing(image('https://example.com/a.webp')) }],
    yes(sends((body) => sentPart(body).source, { type: 'url', url: 'https://example.com/a.webp' })),
    no(broughtPath),
    cell(
      'yes, its kind by its name',
      sends((body) => sentPart(body).fileData, { mimeType: 'image/webp', fileUri: 'https://example.com/a.webp' }),
    ),
    yes(sends(inputPart, { type: 'input_image', image_url: 'https://example.com/a.webp' })),
  ),
  row(
    'PDF as a data URL',
    [{ asks: bringing(file(dataUrl('application/pdf'))) }],
    yes(
      sends(sentPart, {
        type: 'document',
        title: 'a report.pdf',
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
      }),
    ),
    // The format accepts no dots in names.
    yes(sends((body) => sentPart(body).document, { format: 'pdf', name: 'a report', source: { bytes: 'JVBERi0=' } })),
    yes(sends((body) => sentPart(body).inlineData, { mimeType: 'application/pdf', data: 'JVBERi0=' })),
    yes(sends(inputPart, { type: 'input_file', filename: 'a report.pdf', file_data: dataUrl('application/pdf') })),
  ),
  row(
    'PDF at a URL',
    [{ asks: bringing(file('https://example.com/a.pdf')) }],
    yes(sends((body) => sentPart(body).source, { type: 'url', url: 'https://example.com/a.pdf' })),
    no(broughtPath),
    yes(sends((body) => sentPart(body).fileData.fileUri, 'https://example.com/a.pdf')),
    yes(sends(inputPart, { type: 'input_file', file_url: 'https://example.com/a.pdf' })),
  ),
  row(
    'other files as data URLs',
    [
      { asks: bringing(file(dataUrl('text/plain'))) },
      { asks: bringing(file(dataUrl('text/csv'))) },
      { asks: bringing(file(dataUrl('text/html'))) },
      { asks: bringing(file(dataUrl('text/markdown'))) },
      { asks: bringing(file(dataUrl('application/msword'))) },
      { asks: bringing(file(dataUrl('application/vnd.ms-excel'))) },
      { asks: bringing(file(dataUrl('application/zip'))) },
    ],
    cell(
      'plain text',
      sends((body) => sentPart(body).source.media_type, 'text/plain'),
      passesOver(broughtPath),
    ),
    cell(
      'text, CSV, HTML, Markdown, Office',
      sends((body) => sentPart(body).document.format, 'txt'),
      ...['csv', 'html', 'md', 'doc', 'xls'].map((kind) => sends((body) => sentPart(body).document.format, kind)),
      passesOver(broughtPath),
    ),
    cell(
      'any',
      sends((body) => sentPart(body).inlineData.mimeType, 'application/zip', {
        asks: bringing(file(dataUrl('application/zip'))),
      }),
    ),
    cell(
      'text, CSV, HTML, Markdown, Office',
      ...([
        'text/plain',
        'text/csv',
        'text/html',
        'text/markdown',
        'application/msword',
        'application/vnd.ms-excel',
      ].map((mediaType) => sends((body) => inputPart(body).file_data, dataUrl(mediaType))) as [
        ReturnType<typeof sends>,
      ]),
      passesOver(broughtPath),
    ),
  ),
  row(
    "a file by a provider's id",
    [{ asks: bringing({ type: 'file', file: { file_id: 'file-1' } }) }],
    ...everywhere(no(broughtPath)),
  ),
  row(
    'audio',
    [{ asks: bringing({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }) }],
    no(broughtPath),
    no(broughtPath),
    yes(sends((body) => sentPart(body).inlineData, { mimeType: 'audio/wav', data: 'AAAA' })),
    no(broughtPath),
  ),
  row(
    'tools, tool calls, tool results',
    [{ asks: { ...messages(...calledTool('Rain.')), tools: [weather] } }],
    yes(
      sends(
        ({ tools, messages: [, { content }, result] }) => [tools, content[1].input, result.content[0].content],
        [[{ name: 'weather', description: 'Tells it.', input_schema: city }], { city: 'Köln' }, 'Rain.'],
      ),
    ),
    cell(
      'yes; as text where no tool is sent',
      sends(
        ({ toolConfig, messages: [, { content }, result] }) => [
          toolConfig.tools[0].toolSpec,
          content[1].toolUse.input,
          result.content[0].toolResult.content,
        ],
        [
          { name: 'weather', description: 'Tells it.', inputSchema: { json: city } },
          { city: 'Köln' },
          [{ text: 'Rain.' }],
        ],
      ),
      sends(asText, [false, 'assistant', 'user'], { asks: messages(...calledTool('Rain.')) }),
      sends(asText, [false, 'assistant', 'user'], {
        asks: { ...messages(...calledTool('Rain.')), tools: [weather], tool_choice: 'none' },
      }),
    ),
    yes(
      sends(
        ({ tools, contents: [, { parts }, result] }) => [
          tools[0].functionDeclarations,
          parts[1].functionCall.args,
          result.parts[0].functionResponse.response.content,
        ],
        [[{ name: 'weather', description: 'Tells it.', parametersJsonSchema: city }], { city: 'Köln' }, 'Rain.'],
      ),
    ),
    yes(
      sends(
        ({ tools, input: [, , functionCall, result] }) => [tools, functionCall.arguments, result.output],
        [
          [{ type: 'function', name: 'weather', description: 'Tells it.', parameters: city, strict: false }],
          '{"city":"Köln"}',
          'Rain.',
        ],
      ),
    ),
  ),
  row(
    'images in tool results',
    [{ asks: { ...messages(...pictured), tools: [weather] } }],
    yes(sends((body) => body.messages[2].content[0].content[1].source.data, pngBytes)),
    yes(sends((body) => body.messages[2].content[0].toolResult.content[1].image.source.bytes, pngBytes)),
    yes(sends((body) => JSON.stringify(body.contents[2]).includes(String(pngBytes)), true)),
    yes(sends((body) => body.input[3].output[1].image_url, smallPng)),
  ),
  row(
    '`tool_choice`, also `none` and `allowed_tools`',
    [
      { asks: { tool_choice: 'required' }, beside: { tools: [weather] } },
      {
        asks: { tool_choice: { type: 'function', function: { name: 'weather' } } },
        beside: { tools: [weather, time] },
      },
      { asks: { tool_choice: 'none' }, beside: { tools: [weather] } },
      {
        asks: { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [time] } } },
        beside: { tools: [weather, time] },
      },
    ],
    yes(
      sends((body) => body.tool_choice, { type: 'any' }),
      sends((body) => body.tool_choice, { type: 'tool', name: 'weather' }),
      sends((body) => body.tool_choice, { type: 'none' }),
      sends((body) => [toolNames(body.tools), body.tool_choice], [['time'], { type: 'any' }]),
    ),
    yes(
      sends(({ toolConfig }) => toolConfig.toolChoice, { any: {} }),
      sends(({ toolConfig }) => toolConfig.toolChoice, { tool: { name: 'weather' } }),
      // The format has no value for "none": no tool is sent.
      sends(({ toolConfig }) => toolConfig, undefined),
      sends(({ toolConfig: { tools, toolChoice } }) => [tools.length, toolChoice], [1, { any: {} }]),
    ),
    yes(
      sends(({ toolConfig }) => toolConfig.functionCallingConfig.mode, 'ANY'),
      sends(({ toolConfig }) => toolConfig.functionCallingConfig, { mode: 'ANY', allowedFunctionNames: ['weather'] }),
      sends(({ toolConfig }) => toolConfig.functionCallingConfig.mode, 'NONE'),
      sends(
        ({ tools, toolConfig: { functionCallingConfig: of } }) => [tools[0].functionDeclarations.length, of.mode],
        [1, 'ANY'],
      ),
    ),
    yes(
      sends((body) => body.tool_choice, 'required'),
      sends((body) => body.tool_choice, { type: 'function', name: 'weather' }),
      sends((body) => body.tool_choice, 'none'),
      sends((body) => [toolNames(body.tools), body.tool_choice], [['time'], 'required']),
    ),
  ),
  row(
    '`parallel_tool_calls: false`',
    [
      { asks: { parallel_tool_calls: false }, beside: { tools: [weather] } },
      {
        asks: { parallel_tool_calls: false },
        beside: { tools: [weather] },
        upstream: { converse: withEffort.converse },
      },
    ],
    yes(sends((body) => body.tool_choice, { type: 'auto', disable_parallel_tool_use: true })),
    cell(
      'Claude',
      sends((body) => body.additionalModelRequestFields.tool_choice.disable_parallel_tool_use, true),
      leavesOut,
    ),
    leftOut,
    yes(sends((body) => body.parallel_tool_calls, false)),
  ),
  row(
    'tools that are no functions, the former `functions`',
    [
      { asks: { tools: [weather, { type: 'custom', custom: { name: 'grep' } }] } },
      { asks: { functions: [{ name: 'weather' }] } },
    ],
    ...everywhere(no('tools[1]', 'functions')),
  ),
  row(
    'output bound, `temperature`, `top_p`, `stop`',
    [
      { asks: { max_tokens: 77, temperature: 0.25, stop: ['END', 'FIN'] } },
      { asks: { max_completion_tokens: 78, top_p: 0.5, stop: 'END' } },
    ],
    yes(
      sends((body) => [body.max_tokens, body.temperature, body.stop_sequences], [77, 0.25, ['END', 'FIN']]),
      sends((body) => [body.max_tokens, body.top_p, body.stop_sequences], [78, 0.5, ['END']]),
    ),
    yes(
      sends((body) => body.inferenceConfig, { maxTokens: 77, temperature: 0.25, stopSequences: ['END', 'FIN'] }),
      sends((body) => body.inferenceConfig, { maxTokens: 78, topP: 0.5, stopSequences: ['END'] }),
    ),
    yes(
      sends((body) => body.generationConfig, { maxOutputTokens: 77, temperature: 0.25, stopSequences: ['END', 'FIN'] }),
      sends((body) => body.generationConfig, { maxOutputTokens: 78, topP: 0.5, stopSequences: ['END'] }),
    ),
    cell(
      'yes, the bound raised to its least; the gateway ends the answer at a stop; models that think: no `temperature`, `top_p`',
      sends((body) => [body.max_output_tokens, body.temperature, body.stop], [77, 0.25, undefined]),
      sends((body) => [body.max_output_tokens, body.top_p, body.stop], [78, 0.5, undefined]),
      sends((body) => [body.max_output_tokens, body.temperature], [16, undefined], {
        asks: { max_tokens: 1, temperature: 0.25 },
        upstream: withEffort,
      }),
    ),
  ),
  row(
    'more than 64 of `stop`, one of more than 256 characters',
    [{ asks: { stop: manyStops } }, { asks: { stop: longStop } }],
    ...((
      [
        (body: Any) => body.stop_sequences,
        ({ inferenceConfig }: Any) => inferenceConfig.stopSequences,
        ({ generationConfig }: Any) => generationConfig.stopSequences,
      ] as const
    ).map((pick) => yes(sends(pick, manyStops), sends(pick, [longStop]))) as [Cell, Cell, Cell]),
    cell('no', passesOver('stop'), passesOver('stop')),
  ),
  row(
    '`seed`',
    [{ asks: { seed: 7 } }],
    leftOut,
    leftOut,
    yes(sends((body) => body.generationConfig.seed, 7)),
    leftOut,
  ),
  row(
    '`top_k`',
    [{ asks: { top_k: 5 } }],
    yes(sends((body) => body.top_k, 5)),
    leftOut,
    yes(sends((body) => body.generationConfig.topK, 5)),
    leftOut,
  ),
  row(
    '`frequency_penalty`, `presence_penalty`',
    [
      { asks: { frequency_penalty: 0.5, presence_penalty: 0.25 } },
      {
        asks: { frequency_penalty: 0.5, presence_penalty: 0.25 },
        upstream: { 'generate-content': 'gemini-2.0-flash' },
      },
    ],
    leftOut,
    leftOut,
    cell(
      'where the model takes them',
      leavesOut,
      sends(({ generationConfig: of }) => [of.frequencyPenalty, of.presencePenalty], [0.5, 0.25]),
    ),
    leftOut,
  ),
  row(
    '`response_format: json_schema`',
    [
      { asks: asSchema },
      { asks: asSchema, upstream: { messages: 'claude-3-haiku-20240307', converse: 'amazon.nova-lite-v1:0' } },
    ],
    cell(
      'yes; older models: a tool that they call',
      sends((body) => body.output_config.format.schema, schema),
      sends(({ tools }) => [toolNames(tools), tools[0].input_schema], [['json'], schema]),
    ),
    cell(
      'Claude; other models: a tool that they call',
      sends(({ additionalModelRequestFields: of }) => of.output_config.format.schema, schema),
      sends(
        ({ toolConfig: { tools } }) => [tools[0].toolSpec.name, tools[0].toolSpec.inputSchema],
        ['json', { json: schema }],
      ),
    ),
    yes(sends(({ generationConfig: of }) => of.responseJsonSchema.properties, schema.properties)),
    cell(
      'yes, strict where the schema is',
      sends(({ text: of }) => [of.format.schema, of.format.strict], [schema, true]),
      sends(({ text: of }) => [of.format.schema, of.format.strict], [city, false], {
        asks: { response_format: { type: 'json_schema', json_schema: { name: 'label', schema: city } } },
      }),
    ),
  ),
  row(
    '`response_format: json_object`',
    [{ asks: asAnyJson }, { asks: asAnyJson, beside: { tools: [weather] } }],
    cell(
      'a tool that the model calls',
      sends((body) => [toolNames(body.tools), body.tool_choice.type], [['json'], 'any']),
    ),
    cell(
      'a tool that the model calls',
      sends(({ toolConfig }) => [toolConfig.tools[0].toolSpec.name, toolConfig.toolChoice], ['json', { any: {} }]),
    ),
    cell(
      'yes; beside tools a tool, or a schema of any form',
      sends(
        ({ generationConfig: of }) => [of.responseMimeType, of.responseJsonSchema],
        ['application/json', undefined],
      ),
      sends(({ tools }) => toolNames(tools[0].functionDeclarations), ['weather', 'json']),
      sends(({ generationConfig: of }) => of.responseJsonSchema, anyObject, {
        asks: asAnyJson,
        beside: { tools: [weather] },
        upstream: withEffort,
      }),
    ),
    cell(
      'yes, named in the instructions where nothing names it',
      sends(({ text: of, input }) => [of.format, /JSON/.test(input[0].content)], [{ type: 'json_object' }, true]),
      sends(({ text: of, tools }) => [of.format, toolNames(tools)], [{ type: 'json_object' }, ['weather']]),
    ),
  ),
  row(
    '`reasoning`, `reasoning_effort`',
    [
      { asks: { reasoning: { max_tokens: 2_048 } } },
      { asks: { reasoning_effort: 'medium' } },
      { asks: { reasoning: { effort: 'medium' } }, upstream: withEffort },
    ],
    cell(
      'budget or effort',
      sends(({ thinking: of }) => of, { type: 'enabled', budget_tokens: 2_048 }),
      sends(({ thinking: of }) => of, { type: 'enabled', budget_tokens: 4_096 }),
      sends(
        ({ thinking: of, output_config: { effort } }) => [of, effort],
        [{ type: 'adaptive', display: 'summarized' }, 'medium'],
      ),
    ),
    cell(
      'budget or effort',
      sends(({ additionalModelRequestFields: of }) => of.thinking, { type: 'enabled', budget_tokens: 2_048 }),
      sends(({ additionalModelRequestFields: of }) => of.thinking, { type: 'enabled', budget_tokens: 4_096 }),
      sends(({ additionalModelRequestFields: of }) => of.reasoningConfig.maxReasoningEffort, 'medium'),
    ),
    cell(
      'budget or level',
      sends(({ generationConfig: of }) => of.thinkingConfig, { thinkingBudget: 2_048, includeThoughts: true }),
      sends(({ generationConfig: of }) => of.thinkingConfig.thinkingBudget, 4_096),
      sends(({ generationConfig: of }) => of.thinkingConfig, { thinkingLevel: 'medium', includeThoughts: true }),
    ),
    cell(
      'effort, with a summary',
      sends(
        (body) => body.reasoning,
        { effort: 'low', summary: 'auto' },
        {
          asks: { reasoning: { max_tokens: 2_048 } },
          upstream: withEffort,
        },
      ),
      sends(
        (body) => body.reasoning,
        { effort: 'medium', summary: 'auto' },
        {
          asks: { reasoning_effort: 'medium' },
          upstream: withEffort,
        },
      ),
      sends(
        (body) => body.reasoning,
        { effort: 'none' },
        {
          asks: { reasoning_effort: 'none' },
          upstream: withEffort,
        },
      ),
    ),
  ),
  row(
    '`reasoning_details` that come back',
    [thinking(talk, claudeDetails), thinking(calledTool('Rain.'), geminiDetails)],
    cell(
      'signed and redacted thinking',
      sends(
        (body) => body.messages[1].content.slice(0, 2),
        [
          { type: 'thinking', thinking: thought, signature },
          { type: 'redacted_thinking', data: redactedReasoning },
        ],
      ),
      leavesOut,
    ),
    cell(
      'signed and redacted thinking',
      sends(
        (body) => body.messages[1].content.slice(0, 2),
        [
          { reasoningContent: { reasoningText: { text: thought, signature } } },
          { reasoningContent: { redactedContent: redactedReasoning } },
        ],
      ),
      leavesOut,
    ),
    cell(
      'signatures',
      sends((body) => body.contents[1].parts[1].thoughtSignature, signatureOf('weather'), {
        ...thinking(calledTool('Rain.'), geminiDetails),
        upstream: { 'generate-content': withEffort['generate-content'] },
      }),
    ),
    cell(
      'encrypted items of the same model',
      sends(
        (body) => body.input[1],
        {
          type: 'reasoning',
          id: 'rs_1',
          encrypted_content: encrypted,
          summary: [{ type: 'summary_text', text: thought }],
        },
        {
          ...thinking(talk, openAiDetails('responses')),
          upstream: withEffort,
        },
      ),
      { ...leavesOut, ask: { ...thinking(talk, openAiDetails('another')), upstream: withEffort } },
      leavesOut,
    ),
  ),
  row(
    '`cache_control` of a part, a message',
    [
      {
        asks: messages(user([text('Long.', forAnHour), text('Short.')])),
        beside: messages(user([text('Long.'), text('Short.')])),
      },
      { asks: messages(user('Long.', ephemeral)), beside: messages(user('Long.')) },
      { asks: messages(instructed(forAnHour), user('Hi.')), beside: messages(instructed(), user('Hi.')) },
      {
        asks: messages(...calledTool([text('Rain.', ephemeral)])),
        beside: { ...messages(...calledTool([text('Rain.')])), tools: [weather] },
      },
    ],
    yes(
      sends((body) => body.messages[0].content, [text('Long.', forAnHour), text('Short.')]),
      sends((body) => body.messages[0].content, [text('Long.', ephemeral)]),
      sends((body) => body.system, [text('Long.', forAnHour)]),
      sends((body) => body.messages[2].content[0].cache_control, ephemeral.cache_control),
    ),
    yes(
      sends(
        (body) => body.messages[0].content,
        [{ text: 'Long.' }, { cachePoint: { type: 'default', ttl: '1h' } }, { text: 'Short.' }],
      ),
      sends((body) => body.messages[0].content, [{ text: 'Long.' }, { cachePoint: { type: 'default' } }]),
      sends((body) => body.system, [{ text: 'Long.' }, { cachePoint: { type: 'default', ttl: '1h' } }]),
      sends((body) => body.messages[2].content.at(-1), { cachePoint: { type: 'default' } }),
    ),
    cell('dropped: it caches by itself', leavesOut, leavesOut, leavesOut, leavesOut),
    cell('dropped: it caches by itself', leavesOut, leavesOut, leavesOut, leavesOut),
  ),
  row(
    '`cache_control` of a tool',
    [{ asks: { tools: [{ ...weather, ...forAnHour }] }, beside: { tools: [weather] } }],
    yes(sends((body) => body.tools[0].cache_control, forAnHour.cache_control)),
    yes(sends((body) => body.toolConfig.tools[1], { cachePoint: { type: 'default', ttl: '1h' } })),
    leftOut,
    leftOut,
  ),
  row(
    'several answers (`n`), `logprobs`, audio output',
    [
      { asks: { n: 2 } },
      { asks: { logprobs: true } },
      { asks: { modalities: ['text', 'audio'] } },
      { asks: { audio: { voice: 'alloy' } } },
      { asks: messages({ role: 'assistant', audio: { id: 'a' } }) },
    ],
    ...everywhere(no('n', 'logprobs', 'modalities', 'audio', 'messages[0].audio')),
  ),
  row(
    '`web_search_options`, `plugins`, `best_of`, dearer tiers',
    [
      { asks: { web_search_options: {} } },
      { asks: { plugins: [{ id: 'web' }] } },
      { asks: { best_of: 2 } },
      { asks: { service_tier: 'priority' } },
    ],
    ...everywhere(no('web_search_options', 'plugins', 'best_of', 'service_tier')),
  ),
  row(
    'parts and response formats of another type',
    [
      { asks: bringing({ type: 'hologram' }) },
      { asks: bringing(image('file:///etc/passwd')) },
      { asks: bringing(image('data:image/png;base64')) },
      { asks: { response_format: { type: 'grammar' } } },
    ],
    ...everywhere(no(broughtPath, broughtPath, broughtPath, 'response_format')),
  ),
  row(
    '`user`, `safety_identifier`, `prompt_cache_key`',
    [{ asks: { user: 'u', prompt_cache_key: 'k' } }, { asks: { safety_identifier: 's' } }],
    cell(
      '`metadata.user_id`',
      sends((body) => body.metadata.user_id, 'u'),
      sends((body) => body.metadata.user_id, 's'),
    ),
    leftOut,
    leftOut,
    yes(
      sends((body) => [body.safety_identifier, body.prompt_cache_key], ['u', 'k']),
      sends((body) => body.safety_identifier, 's'),
    ),
  ),
  row(
    '`verbosity`',
    [{ asks: { verbosity: 'low' } }],
    leftOut,
    leftOut,
    leftOut,
    cell(
      'GPT-5 and later',
      leavesOut,
      sends(({ text: of }) => of.verbosity, 'low', { asks: { verbosity: 'low' }, upstream: withEffort }),
    ),
  ),
  row(
    '`metadata`',
    [{ asks: { metadata: { a: 'b' } } }],
    leftOut,
    leftOut,
    leftOut,
    yes(sends((body) => body.metadata, { a: 'b' })),
  ),
  row('any other member of the request', [{ asks: otherMembers }], ...everywhere(leftOut)),
];
