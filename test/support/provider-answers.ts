// Answers of providers in each format, as JSON and as streams, from one description. The formats are those of the
// public references: Anthropic's Messages, OpenAI's Responses, Bedrock's Converse in frames of AWS event streams,
// Gemini's generateContent.
import { EventStreamCodec } from '@smithy/core/event-streams';

export type Json = Record<string, unknown>;

export interface FakeAnswer {
  /** Bytes of a JSON answer, or the pieces of a stream. */
  readonly bytes: readonly Uint8Array[];
  readonly contentType: string;
  /** Error after the last piece. */
  readonly breaksWith?: Error;
}

export type AnswerBlock =
  | { readonly thinking: string; readonly signature: string }
  | { readonly redacted: string }
  | { readonly text: string }
  | { readonly id: string; readonly name: string; readonly args: Json };

export interface ProviderAnswer {
  readonly blocks: readonly AnswerBlock[];
  /** Reason of the end, as the provider writes it. */
  readonly reason?: string;
}

export const apis = ['messages', 'responses', 'converse', 'generate-content'] as const;
export type Api = (typeof apis)[number];

const pieces = (text: string): string[] => (text === '' ? [''] : (text.match(/.{1,3}/gsu) ?? []));
const hasCall = (blocks: readonly AnswerBlock[]): boolean => blocks.some((block) => 'id' in block);

const event = (value: Json): Buffer =>
  Buffer.from(`${typeof value.type === 'string' ? `event: ${value.type}\n` : ''}data: ${JSON.stringify(value)}\n\n`);
export const eventStream = (...values: Json[]): FakeAnswer => ({
  contentType: 'text/event-stream',
  bytes: values.map(event),
});

const codec = new EventStreamCodec(
  (bytes: Uint8Array | string) => Buffer.from(bytes).toString('utf8'),
  (text: string) => Buffer.from(text, 'utf8'),
);
const header = (value: string) => ({ type: 'string' as const, value });
const frame = ([type, value]: readonly [string, Json]): Buffer => {
  const kind = type.endsWith('Exception') ? 'exception' : 'event';
  const headers = {
    [`:${kind}-type`]: header(type),
    ':content-type': header('application/json'),
    ':message-type': header(kind),
  };
  return Buffer.from(codec.encode({ headers, body: Buffer.from(JSON.stringify(value)) }));
};
export const frames = (...values: (readonly [string, Json])[]): FakeAnswer => ({
  contentType: 'application/vnd.amazon.eventstream',
  bytes: values.map(frame),
});

const anthropicUsage = {
  input_tokens: 10,
  cache_creation_input_tokens: 4,
  cache_read_input_tokens: 3,
  cache_creation: { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens: 3 },
};
const converseUsage = {
  inputTokens: 10,
  outputTokens: 5,
  totalTokens: 22,
  cacheReadInputTokens: 3,
  cacheWriteInputTokens: 4,
  cacheDetails: [
    { ttl: '5m', inputTokens: 1 },
    { ttl: '1h', inputTokens: 3 },
  ],
};
const geminiUsage = {
  promptTokenCount: 17,
  candidatesTokenCount: 3,
  thoughtsTokenCount: 2,
  cachedContentTokenCount: 3,
  totalTokenCount: 22,
};

const responsesUsage = {
  input_tokens: 17,
  input_tokens_details: { cached_tokens: 3, cache_write_tokens: 4 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 22,
};

const anthropicBlock = (block: AnswerBlock): Json => {
  if ('thinking' in block) return { type: 'thinking', ...block };
  if ('redacted' in block) return { type: 'redacted_thinking', data: block.redacted };
  if ('text' in block) return { type: 'text', text: block.text };
  return { type: 'tool_use', id: block.id, name: block.name, input: block.args };
};
const converseBlock = (block: AnswerBlock): Json => {
  if ('thinking' in block) {
    return { reasoningContent: { reasoningText: { text: block.thinking, signature: block.signature } } };
  }
  if ('redacted' in block) return { reasoningContent: { redactedContent: block.redacted } };
  if ('text' in block) return { text: block.text };
  return { toolUse: { toolUseId: block.id, name: block.name, input: block.args } };
};
/** Returns a part of Gemini's answer. Gemini encrypts no thinking as a whole: it signs calls and texts. */
const geminiPart = (block: AnswerBlock): Json => {
  if ('thinking' in block) return { text: block.thinking, thought: true, thoughtSignature: block.signature };
  if ('redacted' in block) return { text: '', thoughtSignature: block.redacted };
  if ('text' in block) return { text: block.text };
  return { functionCall: { id: block.id, name: block.name, args: block.args }, thoughtSignature: `of ${block.id}` };
};

/** Returns an item of a response. Its visible thinking is a summary, and its signature is the encrypted thinking. */
const responsesItem = (block: AnswerBlock, index: number): Json => {
  if ('thinking' in block) {
    const summary = [{ type: 'summary_text', text: block.thinking }];
    return { id: `rs_${index}`, type: 'reasoning', summary, encrypted_content: block.signature };
  }
  if ('redacted' in block) {
    return { id: `rs_${index}`, type: 'reasoning', summary: [], encrypted_content: block.redacted };
  }
  const status = 'completed';
  if ('text' in block) {
    const content = [{ type: 'output_text', text: block.text, annotations: [], logprobs: [] }];
    return { id: `msg_${index}`, type: 'message', role: 'assistant', status, content };
  }
  const { id, name, args } = block;
  return { id: `fc_${index}`, type: 'function_call', call_id: id, name, arguments: JSON.stringify(args), status };
};
const responsesOf = ({ blocks, reason = 'completed' }: ProviderAnswer): Json => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_760_000_000,
  model: 'gpt-answering',
  status: reason === 'completed' ? reason : 'incomplete',
  error: null,
  incomplete_details: reason === 'completed' ? null : { reason },
  output: blocks.map(responsesItem),
  usage: responsesUsage,
});

const whole: Readonly<Record<Api, (answer: ProviderAnswer) => Json>> = {
  messages: ({ blocks, reason = hasCall(blocks) ? 'tool_use' : 'end_turn' }) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-answering',
    content: blocks.map(anthropicBlock),
    stop_reason: reason,
    stop_sequence: null,
    usage: { ...anthropicUsage, output_tokens: 5 },
  }),
  responses: responsesOf,
  converse: ({ blocks, reason = hasCall(blocks) ? 'tool_use' : 'end_turn' }) => ({
    output: { message: { role: 'assistant', content: blocks.map(converseBlock) } },
    stopReason: reason,
    usage: converseUsage,
    metrics: { latencyMs: 700 },
  }),
  'generate-content': ({ blocks, reason = 'STOP' }) => ({
    candidates: [{ content: { role: 'model', parts: blocks.map(geminiPart) }, finishReason: reason, index: 0 }],
    usageMetadata: geminiUsage,
    modelVersion: 'gemini-answering',
    responseId: 'response-1',
  }),
};

export const jsonOf = (api: Api, answer: ProviderAnswer): Json => whole[api](answer);

const anthropicEvents = (block: AnswerBlock, index: number): Json[] => {
  const start = (content_block: Json) => ({ type: 'content_block_start', index, content_block });
  const delta = (value: Json) => ({ type: 'content_block_delta', index, delta: value });
  const inner =
    'thinking' in block
      ? [
          start({ type: 'thinking', thinking: '', signature: '' }),
          ...pieces(block.thinking).map((thinking) => delta({ type: 'thinking_delta', thinking })),
          delta({ type: 'signature_delta', signature: block.signature }),
        ]
      : 'redacted' in block
        ? [start({ type: 'redacted_thinking', data: block.redacted })]
        : 'text' in block
          ? [
              start({ type: 'text', text: '' }),
              ...pieces(block.text).map((text) => delta({ type: 'text_delta', text })),
            ]
          : [
              start({ type: 'tool_use', id: block.id, name: block.name, input: {} }),
              ...pieces(JSON.stringify(block.args)).map((json) =>
                delta({ type: 'input_json_delta', partial_json: json }),
              ),
            ];
  return [...inner, { type: 'content_block_stop', index }];
};

const responsesEvents = (block: AnswerBlock, output_index: number): Json[] => {
  const { encrypted_content: encrypted, ...item } = responsesItem(block, output_index);
  // The encrypted text changes until the end.
  const early = encrypted === undefined ? {} : { encrypted_content: 'first' };
  const addedItem = { ...item, ...early, ...('summary' in item ? { summary: [] } : {}) };
  const place = { item_id: item.id, output_index };
  const inner = (): Json[] => {
    if ('thinking' in block) {
      const of = { ...place, summary_index: 0 };
      return [
        { type: 'response.reasoning_summary_part.added', ...of, part: { type: 'summary_text', text: '' } },
        ...pieces(block.thinking).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...of, delta })),
        { type: 'response.reasoning_summary_text.done', ...of, text: block.thinking },
        { type: 'response.reasoning_summary_part.done', ...of, part: { type: 'summary_text', text: block.thinking } },
      ];
    }
    if ('redacted' in block) return [];
    if ('text' in block) {
      const of = { ...place, content_index: 0 };
      return [
        { type: 'response.content_part.added', ...of, part: { type: 'output_text', text: '', annotations: [] } },
        ...pieces(block.text).map((delta) => ({ type: 'response.output_text.delta', ...of, delta, logprobs: [] })),
        { type: 'response.output_text.done', ...of, text: block.text },
      ];
    }
    const kind = 'response.function_call_arguments';
    return pieces(JSON.stringify(block.args)).map((delta) => ({ type: `${kind}.delta`, ...place, delta }));
  };
  return [
    {
      type: 'response.output_item.added',
      output_index,
      item: { ...addedItem, ...('id' in block ? { arguments: '' } : {}) },
    },
    ...inner(),
    { type: 'response.output_item.done', output_index, item: responsesItem(block, output_index) },
  ];
};

const converseFrames = (block: AnswerBlock, contentBlockIndex: number): (readonly [string, Json])[] => {
  const delta = (value: Json) => ['contentBlockDelta', { contentBlockIndex, delta: value, p: 'abcdef' }] as const;
  const reasoning = (value: Json) => delta({ reasoningContent: value });
  const stop = ['contentBlockStop', { contentBlockIndex }] as const;
  if ('thinking' in block) {
    const texts = pieces(block.thinking).map((text) => reasoning({ text }));
    return [...texts, reasoning({ signature: block.signature }), stop];
  }
  if ('redacted' in block) return [reasoning({ redactedContent: block.redacted }), stop];
  if ('text' in block) return [...pieces(block.text).map((text) => delta({ text })), stop];
  return [
    ['contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId: block.id, name: block.name } } }],
    ...pieces(JSON.stringify(block.args)).map((input) => delta({ toolUse: { input } })),
    stop,
  ];
};

const geminiParts = (block: AnswerBlock): Json[] => {
  if ('thinking' in block) {
    const texts = pieces(block.thinking).map((text): Json => ({ text, thought: true }));
    return [...texts, { text: '', thought: true, thoughtSignature: block.signature }];
  }
  return 'text' in block ? pieces(block.text).map((text) => ({ text })) : [geminiPart(block)];
};

const streamAnswers: Readonly<Record<Api, (answer: ProviderAnswer) => FakeAnswer>> = {
  messages: ({ blocks, reason = hasCall(blocks) ? 'tool_use' : 'end_turn' }) =>
    eventStream(
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'claude-answering',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...anthropicUsage, output_tokens: 1 },
        },
      },
      { type: 'ping' },
      ...blocks.flatMap(anthropicEvents),
      { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ),
  responses(answer) {
    const response = { ...responsesOf(answer), status: 'in_progress', output: [], usage: null };
    const end = {
      type: `response.${answer.reason === undefined ? 'completed' : 'incomplete'}`,
      response: responsesOf(answer),
    };
    return eventStream(
      { type: 'response.created', response },
      { type: 'response.in_progress', response },
      ...answer.blocks.flatMap(responsesEvents),
      end,
    );
  },
  converse: ({ blocks, reason = hasCall(blocks) ? 'tool_use' : 'end_turn' }) =>
    frames(
      ['messageStart', { role: 'assistant', p: 'ab' }],
      ...blocks.flatMap(converseFrames),
      ['messageStop', { stopReason: reason }],
      ['metadata', { usage: converseUsage, metrics: { latencyMs: 700 } }],
    ),
  'generate-content': ({ blocks, reason = 'STOP' }) =>
    eventStream(
      ...blocks.flatMap(geminiParts).map((part) => ({
        candidates: [{ content: { role: 'model', parts: [part] }, index: 0 }],
        usageMetadata: { promptTokenCount: 17, totalTokenCount: 17 },
        modelVersion: 'gemini-answering',
        responseId: 'response-1',
      })),
      {
        candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: reason, index: 0 }],
        usageMetadata: geminiUsage,
        responseId: 'response-1',
      },
    ),
};

export const streamOf = (api: Api, answer: ProviderAnswer): FakeAnswer => streamAnswers[api](answer);
