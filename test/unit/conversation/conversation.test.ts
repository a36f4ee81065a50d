// Bodies of calls in the form in which people read them: each interface, JSON and streams. Any other body is no
// conversation.
import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { readAnswerTurns, readRequestTurns } from '../../../shared/protocol/conversation/index.ts';
import { turnsOf } from '../../../shared/protocol/interface-pages/index.ts';
import '../../support/property-seed.ts';

const png = 'data:image/png;base64,AAAA';
const requests = {
  'chat-completions': {
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image_url', image_url: { url: png } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', function: { name: 'look', arguments: '{"a":1}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'A cat' },
    ],
  },
  messages: {
    system: 'Be brief.',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        ],
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: { a: 1 } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'A cat' }] },
    ],
  },
  responses: {
    instructions: 'Be brief.',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look' },
          { type: 'input_image', image_url: png },
        ],
      },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'c1', output: 'A cat' },
    ],
  },
  'generate-content': {
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    contents: [
      { role: 'user', parts: [{ text: 'Look' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
      { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'look', args: { a: 1 } } }] },
      { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'look', response: { result: 'A cat' } } }] },
    ],
  },
} as const;

it('a request of Gemini reads alike in both spellings', () => {
  const bodyText = JSON.stringify(requests['generate-content']);
  const other = bodyText.replaceAll(
    /"([a-z]+)([A-Z])([a-z]+)":/g,
    (_match, first, letter, rest) => `"${first}_${letter.toLowerCase()}${rest}":`,
  );
  expect(other).toContain('"inline_data":{"mime_type"');
  const read = (text: string) => readRequestTurns(turnsOf('generate-content'), text);
  expect(read(other)).toEqual(read(bodyText));
});

it.each(Object.entries(requests))('a request of %s is read turn by turn, images and tools included', (id, body) => {
  const turns = readRequestTurns(turnsOf(id), JSON.stringify(body));
  expect(turns?.map(({ parts }) => parts)).toEqual([
    [{ kind: 'text', text: 'Be brief.' }],
    [
      { kind: 'text', text: 'Look' },
      { kind: 'image', url: png },
    ],
    [{ kind: 'tool_call', id: 'c1', name: 'look', text: '{"a":1}' }],
    [{ kind: 'tool_result', id: 'c1', text: id === 'generate-content' ? '{"result":"A cat"}' : 'A cat' }],
  ]);
  expect(turns?.slice(0, 3).map(({ role }) => role)).toEqual(['system', 'user', 'assistant']);
});

const data = (events: readonly object[]) =>
  events.map((event) => `: ping\n\nevent: x\ndata: ${JSON.stringify(event)}\n\n`).join('');
const response = {
  status: 'completed',
  output: [
    { type: 'reasoning', summary: [{ text: 'Hm' }] },
    { type: 'message', content: [{ type: 'output_text', text: 'Hello' }] },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"b":2}' },
  ],
};
const answers: readonly [string, object, readonly object[], string][] = [
  [
    'chat-completions',
    {
      choices: [
        {
          finish_reason: 'tool_calls',
          message: {
            reasoning: 'Hm',
            content: 'Hello',
            tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{"b":2}' } }],
          },
        },
      ],
    },
    [
      { choices: [{ index: 0, delta: { role: 'assistant', reasoning: 'H' } }] },
      { choices: [{ index: 0, delta: { reasoning: 'm' } }] },
      { choices: [{ index: 0, delta: { content: 'Hel' } }] },
      { choices: [{ index: 0, delta: { content: 'lo' } }] },
      {
        choices: [
          { index: 0, delta: { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{"b"' } }] } },
        ],
      },
      { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: ':2}' } }] } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
      { choices: [], usage: {} },
    ],
    'tool_calls',
  ],
  [
    'messages',
    {
      stop_reason: 'tool_use',
      content: [
        { type: 'thinking', thinking: 'Hm' },
        { type: 'text', text: 'Hello' },
        { type: 'tool_use', id: 'c', name: 'f', input: { b: 2 } },
      ],
    },
    [
      { type: 'message_start', message: {} },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm' } },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hel' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'lo' } },
      { type: 'content_block_start', index: 2, content_block: { type: 'tool_use', id: 'c', name: 'f', input: {} } },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"b":2}' } },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
    ],
    'tool_use',
  ],
  ['responses', response, [{ type: 'response.completed', response }], 'completed'],
];

describe.each(answers)('an answer of %s', (id, json, events, finishReason) => {
  it('is read alike from JSON and from its stream', () => {
    const turns = [
      {
        role: 'assistant',
        parts: [
          { kind: 'thinking', text: 'Hm' },
          { kind: 'text', text: 'Hello' },
          { kind: 'tool_call', id: 'c', name: 'f', text: '{"b":2}' },
        ],
        finishReason,
      },
    ];
    expect(readAnswerTurns(turnsOf(id), JSON.stringify(json))).toEqual(turns);
    expect(readAnswerTurns(turnsOf(id), `${data(events)}data: [DONE]\n\n`)).toEqual(turns);
  });

  it('that was cut anywhere is read as far as it came', () => {
    const transcript = data(events);
    for (let end = 0; end <= transcript.length; end += 1) readAnswerTurns(turnsOf(id), transcript.slice(0, end));
  });
});

it('a stream of Responses without its last event is read from its deltas', () => {
  const events = [
    { type: 'response.output_item.added', output_index: 0, item: { type: 'message', role: 'assistant' } },
    { type: 'response.output_text.delta', output_index: 0, delta: 'Hel' },
    { type: 'response.output_text.delta', output_index: 0, delta: 'lo' },
  ];
  expect(readAnswerTurns(turnsOf('responses'), data(events))).toEqual([
    { role: 'assistant', parts: [{ kind: 'text', text: 'Hello' }], finishReason: undefined },
  ]);
});

it('any other text, or interface, is no conversation, and nothing throws', () => {
  expect(readRequestTurns(turnsOf('embeddings'), '{"input":"a"}')).toBeUndefined();
  expect(readRequestTurns(turnsOf('messages'), '{"messages":[{"role":"user","cont')).toBeUndefined();
  expect(readAnswerTurns(turnsOf('messages'), '{"type":"error","error":{"message":"no"}}')).toBeUndefined();
  const ids = fc.constantFrom('chat-completions', 'messages', 'responses', 'constructor');
  fc.assert(
    fc.property(
      ids,
      fc.oneof(
        fc.json(),
        fc.string(),
        fc.json().map((one) => `data: ${one}\n\n`),
      ),
      (id, text) => {
        readRequestTurns(turnsOf(id), text);
        readAnswerTurns(turnsOf(id), text);
      },
    ),
  );
  const odd = fc.oneof(
    fc.constant(null),
    fc.constant(7),
    fc.constant('x'),
    fc.constant([null, 7, 'x', {}]),
    fc.constant({}),
  );
  const names = ['messages', 'input', 'choices', 'content', 'output', 'system', 'type', 'delta', 'role', 'message'];
  const body = fc.dictionary(
    fc.constantFrom(...names),
    fc.oneof(
      odd,
      fc.dictionary(fc.constantFrom(...names), odd).map((one) => [one]),
    ),
  );
  fc.assert(
    fc.property(ids, body, (id, value) => {
      readRequestTurns(turnsOf(id), JSON.stringify(value));
      readAnswerTurns(turnsOf(id), JSON.stringify(value));
      readAnswerTurns(turnsOf(id), `data: ${JSON.stringify(value)}\n\n`);
    }),
  );
});
