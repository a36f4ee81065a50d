// Parts of an answer in each format that reach the client, in JSON answers and in streams.
import { redactedReasoning, signatureOf } from '../../../infra/local/simulator/signature.ts';
import {
  type Any,
  type Ask,
  answers,
  cell,
  type FeatureAnswer,
  type FeatureRow,
  type Json,
  nothing,
  row,
  type ScriptedAnswer,
  yes,
} from './feature-row.ts';

const weather: Json = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};
/** Returns a request whose provider's model behaves as its name says. */
const behaving = (behaviour: string, asks: Json = {}): Ask => ({
  asks,
  upstream: {
    messages: `claude-sonnet-4-5/${behaviour}`,
    converse: `anthropic.claude-sonnet-4-5-20250929-v1/${behaviour}`,
    'generate-content': `gemini-3-pro-preview/${behaviour}`,
    responses: `gpt-5.4/${behaviour}`,
  },
});
const callingTools = behaving('tools', { tools: [weather], messages: [{ role: 'user', content: 'The weather?' }] });
const reasoning = behaving('redacted-reasoning', { reasoning: { effort: 'high' } });
const used = behaving('usage:1000:500:300:120:200:80');

const geminiAnswer = (...parts: Json[]): ScriptedAnswer => {
  const whole = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }] };
  return { whole, events: [whole] };
};
/** Returns Claude's answer of complete blocks; the stream sends a text at once. */
const claudeAnswer = (...content: Json[]): ScriptedAnswer => {
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', stop_sequence: null };
  const usage = { input_tokens: 10, output_tokens: 5 };
  const blocks = content.flatMap((block, index) => [
    { type: 'content_block_start', index, content_block: block.type === 'text' ? { type: 'text', text: '' } : block },
    ...(block.type === 'text'
      ? [{ type: 'content_block_delta', index, delta: { type: 'text_delta', text: block.text } }]
      : []),
    { type: 'content_block_stop', index },
  ]);
  return {
    whole: { ...head, content, stop_reason: 'end_turn', usage },
    events: [
      { type: 'message_start', message: { ...head, content: [], stop_reason: null, usage } },
      ...blocks,
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
      { type: 'message_stop' },
    ],
  };
};

/** Returns GPT's answer of one text, with an item that is new, and a usage with more fields. */
const openAiAnswer = (text: string, more: Json, ...items: Json[]): ScriptedAnswer => {
  const part = { type: 'output_text', text, annotations: [] };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [part] };
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15, ...more };
  const whole = { id: 'resp_1', object: 'response', created_at: 1, model: 'gpt', status: 'completed', usage };
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  return {
    whole: { ...whole, output: [...items, message] },
    events: [
      { type: 'response.created', response: { ...whole, usage: null, output: [] } },
      ...items.map((item, index) => ({ type: 'response.output_item.done', output_index: index + 1, item })),
      { type: 'response.output_item.added', output_index: 0, item: { ...message, content: [] } },
      { type: 'response.output_text.delta', ...place, delta: text },
      { type: 'response.output_item.done', output_index: 0, item: message },
      { type: 'response.completed', response: { ...whole, output: [...items, message] } },
    ],
  };
};

const usual = behaving('echo');
const beginning = ({ message }: FeatureAnswer) => String(message.content).slice(0, 'Hello!'.length);
const calls = ({ message }: FeatureAnswer) =>
  message.tool_calls.map(({ function: fn }: Any) => [fn.name, typeof JSON.parse(fn.arguments).city]);
const twoCalls = Array(2).fill(['weather', 'string']);
const inPieces = (answer: FeatureAnswer) => [calls(answer), (answer.argumentPieces ?? 2) > 1];
const atOnce = (answer: FeatureAnswer) => [calls(answer), (answer.argumentPieces ?? 1) === 1];

const thought = 'The user wants an answer. I should give a short one.';
/** Returns the provider's own text, which is the last part of the sealed text. */
const ownText = (sealedText: string | undefined): string | undefined =>
  /^gw1\.[\w-]+\.[\w-]+\.(.*)$/s.exec(sealedText ?? '')?.[1];
const reasons = ({ message }: FeatureAnswer) => [
  message.reasoning,
  message.reasoning_details.map(({ type, text, signature, data }: Any) => [
    type,
    text ?? ownText(data),
    ownText(signature),
  ]),
];
const claudeReasons = [
  thought,
  [
    ['reasoning.text', thought, signatureOf(thought)],
    ['reasoning.encrypted', redactedReasoning, undefined],
  ],
];
const finish = ({ finishReason }: FeatureAnswer) => finishReason;
const finishes = [
  answers(finish, 'stop'),
  answers(finish, 'length'),
  answers(finish, 'tool_calls'),
  answers(finish, 'content_filter'),
] as const;
const filtered = cell('`content_filter`', answers(finish, 'content_filter'));
const blocked = cell('400 `content_policy_violation`', { kind: 'rejects', reason: 'content_policy_violation' });
const tokens = ({ usage: { prompt_tokens: input, completion_tokens: output, total_tokens: total } }: FeatureAnswer) => [
  input,
  output,
  total,
];
const cached = ({ usage }: FeatureAnswer) => usage.prompt_tokens_details.cached_tokens;
const cacheCounts = ({ usage: { prompt_tokens_details: of } }: FeatureAnswer) => [
  of.cache_write_tokens || undefined,
  of.cache_write_1h_tokens,
];
const reasoned = ({ usage }: FeatureAnswer) => usage.completion_tokens_details?.reasoning_tokens || undefined;
const thoughtSignature = ({ message }: FeatureAnswer) =>
  ownText(message.tool_calls[0].extra_content?.google.thought_signature);
const images = ({ message }: FeatureAnswer) => message.images;
const noCalls = ({ message }: FeatureAnswer) => [message.content, message.tool_calls];

export const answerFeatures: readonly FeatureRow[] = [
  row(
    '`content`, `tool_calls`, streamed arguments',
    [usual, callingTools],
    yes(answers(beginning, 'Hello!'), answers(inPieces, [twoCalls, true])),
    yes(answers(beginning, 'Hello!'), answers(inPieces, [twoCalls, true])),
    cell('yes, arguments in one piece', answers(beginning, 'Hello!'), answers(atOnce, [twoCalls, true])),
    yes(answers(beginning, 'Hello!'), answers(inPieces, [twoCalls, true])),
  ),
  row(
    '`finish_reason`',
    [usual, { ...usual, asks: { max_tokens: 3 } }, callingTools, behaving('content-filter')],
    yes(...finishes),
    yes(...finishes),
    yes(...finishes),
    yes(...finishes),
  ),
  row(
    '`reasoning`, `reasoning_details`',
    [reasoning],
    cell('text, signature, redacted', answers(reasons, claudeReasons)),
    cell('text, signature, redacted', answers(reasons, claudeReasons)),
    cell(
      'text, signatures of texts and calls',
      answers(
        (answer) => {
          const [text, [reasoningText, signature]] = reasons(answer);
          return [text, reasoningText, signature?.[1] === signatureOf(answer.message.content)];
        },
        [thought, ['reasoning.text', thought, undefined], true],
      ),
      answers(({ message }) => ownText(message.reasoning_details[0].data), signatureOf('weather'), callingTools),
      answers(({ message }) => ownText(message.reasoning_details[0].data), 'c2ln', {
        scripted: geminiAnswer({ text: 'So.', thoughtSignature: 'c2ln' }),
      }),
    ),
    cell(
      'summary, encrypted items',
      answers(
        ({ message }) => [
          message.reasoning,
          message.reasoning_details.map(({ type, text, data }: Any) => [type, text, ownText(data)?.slice(0, 3) ?? '']),
        ],
        [
          thought,
          [
            ['reasoning.text', thought, ''],
            ['reasoning.encrypted', undefined, 'rs_'],
            ['reasoning.encrypted', undefined, 'rs_'],
          ],
        ],
      ),
    ),
  ),
  row(
    '`extra_content.google.thought_signature`',
    [callingTools],
    nothing(thoughtSignature),
    nothing(thoughtSignature),
    cell('on tool calls', answers(thoughtSignature, signatureOf('weather'))),
    nothing(thoughtSignature),
  ),
  row(
    '`images`',
    [usual],
    nothing(images),
    nothing(images),
    yes(
      answers(images, [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }], {
        scripted: geminiAnswer({ text: 'Here.' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }),
      }),
    ),
    nothing(images),
  ),
  row(
    '`prompt_tokens` with what a cache gave and took, `completion_tokens`',
    [used],
    yes(answers(tokens, [1_000, 500, 1_500])),
    yes(answers(tokens, [1_000, 500, 1_500])),
    yes(answers(tokens, [1_000, 500, 1_500])),
    yes(answers(tokens, [1_000, 500, 1_500])),
  ),
  row(
    '`prompt_tokens_details.cached_tokens`',
    [used],
    yes(answers(cached, 300)),
    yes(answers(cached, 300)),
    yes(answers(cached, 300)),
    yes(answers(cached, 300)),
  ),
  row(
    '`cache_write_tokens`, `cache_write_1h_tokens`',
    [used],
    yes(answers(cacheCounts, [280, 80])),
    yes(answers(cacheCounts, [280, 80])),
    cell('', answers(cacheCounts, [undefined, undefined])),
    cell(
      'where it says them',
      answers(cacheCounts, [undefined, undefined]),
      answers(cacheCounts, [4, undefined], {
        scripted: openAiAnswer('So.', { input_tokens_details: { cache_write_tokens: 4 } }),
      }),
    ),
  ),
  row(
    '`completion_tokens_details.reasoning_tokens`',
    [used],
    cell(
      'where it says them',
      answers(reasoned, 120),
      answers(reasoned, undefined, { scripted: claudeAnswer({ type: 'text', text: 'So.' }) }),
    ),
    nothing(reasoned),
    yes(answers(reasoned, 120)),
    yes(answers(reasoned, 120)),
  ),
  row('a prompt that is blocked, without an answer', [behaving('blocked-prompt')], blocked, blocked, blocked, blocked),
  row('an answer that was refused', [behaving('refusal')], filtered, filtered, filtered, filtered),
  row(
    'calls that the provider ran itself',
    [usual],
    cell(
      'no `tool_calls`',
      answers(noCalls, ['Found.', undefined], {
        scripted: claudeAnswer(
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'gw' } },
          { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
          { type: 'text', text: 'Found.' },
        ),
      }),
    ),
    nothing(({ message }) => message.tool_calls),
    cell(
      'no `tool_calls`',
      answers(noCalls, ['One.', undefined], {
        scripted: geminiAnswer({ executableCode: { language: 'PYTHON', code: '1' } }, { text: 'One.' }),
      }),
    ),
    cell(
      'no `tool_calls`',
      answers(noCalls, ['Found.', undefined], {
        scripted: openAiAnswer(
          'Found.',
          {},
          { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search' } },
        ),
      }),
    ),
  ),
];
