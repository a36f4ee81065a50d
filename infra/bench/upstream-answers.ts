// What the bench's provider says: always the same, made once, so that its own work is as little as can be.

export const chunksPerStream = 300;

const usage = { prompt_tokens: 420, completion_tokens: chunksPerStream, total_tokens: 420 + chunksPerStream };
const head = { id: 'chatcmpl-bench', created: 1_760_000_000, model: 'bench-upstream' };
const sentence = 'A gateway adds as little as it can to what lies behind it. ';

/** A plain answer of about 2 KB. */
export const jsonAnswer: Buffer = Buffer.from(
  JSON.stringify({
    ...head,
    object: 'chat.completion',
    choices: [
      { index: 0, message: { role: 'assistant', content: sentence.repeat(30), refusal: null }, finish_reason: 'stop' },
    ],
    usage,
  }),
);

const event = (data: unknown): Buffer => Buffer.from(`data: ${JSON.stringify(data)}\n\n`);
const chunkOf = (choices: readonly unknown[], more: Record<string, unknown> = {}): Buffer =>
  event({ ...head, object: 'chat.completion.chunk', choices, ...more });
const delta = (content: string) => ({ index: 0, delta: { role: 'assistant', content }, finish_reason: null });

/** The events of a stream, one buffer each: `chunksPerStream` with a word, the finish reason, usage, the end marker. */
export const streamEvents: readonly Buffer[] = [
  ...Array.from({ length: chunksPerStream }, (_none, index) => chunkOf([delta(` word${index}`)])),
  chunkOf([{ index: 0, delta: {}, finish_reason: 'stop' }]),
  chunkOf([], { usage }),
  Buffer.from('data: [DONE]\n\n'),
];

/** A provider reads the whole body before it answers; this one only looks for the one member it needs. */
export const asksForStream = (body: string): boolean => body.includes('"stream":true');
