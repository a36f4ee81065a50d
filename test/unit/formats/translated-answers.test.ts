import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import {
  jsonValuesMax,
  upstreamBodyMaxBytes,
  upstreamEventMaxBytes,
} from '../../../shared/foundation/constants/index.ts';
import { inOneTurn } from '../../../shared/foundation/time/index.ts';
import {
  type AnswerBlock,
  type Api,
  apis,
  eventStream,
  frames,
  jsonOf,
  type ProviderAnswer,
  streamOf,
} from '../../support/provider-answers.ts';
import { readChunks } from '../../support/read-chunks.ts';
import {
  ask,
  completionOf,
  type FakeAnswer,
  failureOf,
  jsonAnswer,
  readTexts,
  StreamBroken,
  turnsOf,
  withEachMember,
} from './fake-send.ts';

const streamResult = async (api: Api, answer: FakeAnswer) => {
  const { outcome, drained, requests } = await ask({ api, stream: true, answer, body: {} });
  const read =
    outcome.kind === 'failure' ? { texts: [], error: new StreamBroken(outcome.failure) } : await readTexts(outcome);
  return { error: undefined, ...read, drained, requests };
};
const brokenBy = (error: unknown) => {
  if (!(error instanceof StreamBroken)) throw new Error(`it broke with ${error}`);
  return error.failure;
};
const wholeMessage = async (api: Api, answer: ProviderAnswer) => {
  const { outcome } = await ask({ api, answer: jsonAnswer(jsonOf(api, answer)), body: {} });
  return completionOf(outcome);
};

const usual: ProviderAnswer = {
  blocks: [
    { thinking: 'Let me see.', signature: 'c2ln' },
    { redacted: 'ZW5j' },
    { text: 'Grüße, 世界 👋' },
    { id: 'call_a', name: 'weather', args: { city: 'Köln' } },
    { id: 'call_b', name: 'weather', args: {} },
  ],
};

describe.each(apis)('an answer of %s', (api) => {
  it('says the same streamed as whole, whatever it holds', async () => {
    const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).filter((text) => text.trim() !== '');
    const block = fc.oneof<fc.Arbitrary<AnswerBlock>[]>(
      fc.record({ thinking: word, signature: fc.base64String({ minLength: 4 }) }),
      fc.record({ redacted: fc.base64String({ minLength: 4 }) }),
      fc.record({ text: word }),
      fc.record({ id: fc.uuid(), name: fc.constantFrom('one', 'two'), args: fc.dictionary(word, fc.integer()) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(block, { minLength: 1, maxLength: 5 }), async (blocks) => {
        // Gemini's package adds a signature without a text to the block before it, so such a block cannot come first.
        fc.pre(!(api === 'generate-content' && blocks.some((one) => 'redacted' in one || 'thinking' in one)));
        const { message, finish_reason: reason } = (await wholeMessage(api, { blocks })).choices[0];
        const { texts, error } = await streamResult(api, streamOf(api, { blocks }));
        const read = readChunks(texts);
        expect([error, read.isEnded, read.finishReason]).toEqual([undefined, true, reason]);
        expect(read.message.content).toBe(message.content ?? '');
        expect(read.message.reasoning).toBe(message.reasoning ?? '');
        expect(read.message.tool_calls).toEqual(message.tool_calls);
        expect(read.message.reasoning_details).toEqual(message.reasoning_details);
      }),
      { numRuns: 25 },
    );
  });

  it('streams the same wherever its bytes are cut, and is broken wherever it ends too early', async () => {
    const blocks = [{ thinking: 'Hm', signature: 'c2ln' }, { text: 'ü👋' }, { id: 'a', name: 'f', args: { b: 'é' } }];
    const answer = streamOf(api, { blocks });
    const bytes = Buffer.concat(answer.bytes);
    const expected = (await streamResult(api, answer)).texts;
    const cutAt = (...places: number[]) =>
      [0, ...places].map((from, piece) => bytes.subarray(from, places[piece] ?? bytes.length));
    const everywhere = cutAt(...Array.from({ length: bytes.length - 1 }, (_none, at) => at + 1));
    const once = Array.from({ length: 20 }, (_none, cut) => cutAt(Math.ceil(((cut + 1) * bytes.length) / 22)));
    for (const cut of [everywhere, ...once]) {
      const { texts, error } = await streamResult(api, { ...answer, bytes: cut });
      expect([error, texts]).toEqual([undefined, expected]);
    }
    for (let at = 0; at < bytes.length - 4; at += 11) {
      const { texts, error } = await streamResult(api, { ...answer, bytes: [bytes.subarray(0, at)] });
      // A stream that was cut after its finish reason is complete for a client.
      if (error === undefined) expect([at, readChunks(texts).finishReason]).toEqual([at, 'tool_calls']);
      else expect([at, brokenBy(error).kind, texts.includes('[DONE]')]).toEqual([at, 'failed', false]);
    }
  });

  it('of more values than an answer may hold is a failure that no package has read, and says what it has used', async () => {
    const junk = Array.from({ length: jsonValuesMax }, () => ({}));
    const answer = jsonAnswer({ ...jsonOf(api, usual), junk });
    const { outcome } = await ask({ api, answer, body: {} });
    const tokens = { input: 17, cached: 3, output: 5 };
    expect(failureOf(outcome)).toMatchObject({
      kind: 'failed',
      cause: 'unreadable_answer',
      unusedAnswer: { usage: { tokens } },
    });
    const silent = await ask({ api, answer: jsonAnswer({ junk }), body: {} });
    expect(failureOf(silent.outcome).unusedAnswer).toEqual({
      usage: undefined,
      outputBytes: JSON.stringify({ junk }).length,
    });
    const instead = await ask({ api, stream: true, answer, body: {} });
    expect(failureOf(instead.outcome)).toMatchObject({ unusedAnswer: { usage: { tokens } } });
    const [first, ...others] = streamOf(api, usual).bytes;
    const type = api === 'responses' ? 'response.output_item.added' : 'ping';
    const large = api === 'converse' ? frames(['metadata', { junk }]) : eventStream({ type, junk });
    const { error } = await streamResult(api, {
      ...large,
      bytes: [first ?? Buffer.alloc(0), ...large.bytes, ...others],
    });
    expect(error).toBeInstanceOf(RangeError);
  });

  it('that is long is read in steps, and a stream piece by piece, between which others have the event loop', async () => {
    const long: ProviderAnswer = { blocks: [{ text: 'x'.repeat(600_000) }] };
    const turnsWith = (answer: ProviderAnswer) =>
      turnsOf(() => ask({ api, answer: jsonAnswer(jsonOf(api, answer)), body: {} }));
    await turnsWith(usual);
    expect((await turnsWith(long)) - (await turnsWith(usual))).toBeGreaterThanOrEqual(4);
    const parts = streamOf(api, { blocks: [{ text: 'x'.repeat(15_000) }] });
    const atOnce = { ...parts, bytes: [Buffer.concat(parts.bytes)] };
    const lines = atOnce.bytes[0]?.toString('latin1').split('\n').length ?? 0;
    const turnsMin =
      api === 'converse' ? Math.floor(parts.bytes.length / inOneTurn.events) : Math.floor(lines / inOneTurn.lines);
    expect(turnsMin).toBeGreaterThan(5);
    let texts: string[] = [];
    const turns = await turnsOf(async () => {
      ({ texts } = await streamResult(api, atOnce));
    });
    expect([turns >= turnsMin, texts.at(-1)]).toEqual([true, '[DONE]']);
  });

  it('with fields of any type is an answer or a failure of the provider, never an error of the gateway', async () => {
    const whole = jsonOf(api, usual);
    for (const odd of [null, -1e308, 'x', [[]], { a: null }]) {
      for (const answer of withEachMember(whole, odd)) {
        const { outcome } = await ask({ api, answer: jsonAnswer(answer), body: {} });
        expect(['json', 'failure']).toContain(outcome.kind);
      }
    }
  });

  it('of a stream names the same id, model and time in each chunk, and begins with the role', async () => {
    const { texts } = await streamResult(api, streamOf(api, usual));
    const chunks = texts.slice(0, -1).map((text) => JSON.parse(text));
    const heads = chunks.map(({ id, model, created, object }) => JSON.stringify([id, model, created, object]));
    expect(new Set(heads).size).toBe(1);
    expect(chunks[0].object).toBe('chat.completion.chunk');
    expect(chunks[0].choices[0].delta).toEqual({ role: 'assistant', content: '' });
    expect(chunks.at(-1).choices).toEqual([]);
    expect(chunks.at(-2).choices[0]).toMatchObject({ delta: {}, finish_reason: 'tool_calls' });
  });

  it('leaves what follows its end to be drained', async () => {
    const answer = streamOf(api, usual);
    const { outcome, drained } = await ask({ api, stream: true, answer, body: {} });
    await readTexts(outcome);
    expect(drained()).toBe(0);
    if (outcome.kind === 'stream') outcome.drain();
    expect(drained()).toBe(1);
  });
});

it('a frame of Converse with a wrong byte, or of a length that cannot be, is a failure of the provider', async () => {
  const answer = streamOf('converse', usual);
  const bytes = Buffer.concat(answer.bytes);
  const flipped = [0, 3, 8, 13, 40, bytes.length - 2].map((at) => {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ 0x55;
    return copy;
  });
  for (const piece of [...flipped, Buffer.alloc(1_000), Buffer.alloc(1_000, 0xff)]) {
    const { error, texts } = await streamResult('converse', { ...answer, bytes: [piece] });
    expect([brokenBy(error).kind, texts.includes('[DONE]')]).toEqual(['failed', false]);
  }
});

it('a frame of Converse that says that it is too large is not waited for', async () => {
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(upstreamEventMaxBytes + 1, 0);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const { contentType, bytes } = streamOf('converse', usual);
  const { error } = await streamResult('converse', { contentType, bytes: [...bytes.slice(0, 2), prelude] });
  expect(error).toBeInstanceOf(RangeError);
});

const words: readonly AnswerBlock[] = [{ text: 'So far' }];
const call: readonly AnswerBlock[] = [{ id: 'a', name: 'f', args: {} }];

describe('why an answer ended, beside the ends of every format', () => {
  it.each([
    ['messages', 'stop_sequence', 'a text', words, 'stop'],
    ['messages', 'model_context_window_exceeded', 'a text', words, 'length'],
    ['converse', 'stop_sequence', 'a text', words, 'stop'],
    ['converse', 'guardrail_intervened', 'a text', words, 'content_filter'],
    ['generate-content', 'RECITATION', 'a text', words, 'content_filter'],
    ['generate-content', 'PROHIBITED_CONTENT', 'a text', words, 'content_filter'],
    ['converse', 'model_context_window_exceeded', 'a text', words, 'length'],
    // The finish reason agrees with the calls of the answer.
    ['messages', 'end_turn', 'a call', call, 'tool_calls'],
    ['messages', 'tool_use', 'a text', words, 'stop'],
    ['messages', 'max_tokens', 'a call', call, 'length'],
  ] as const)('%s says %s after %s', async (api, reason, _what, blocks, expected) => {
    const answer = { blocks, reason };
    expect((await wholeMessage(api, answer)).choices[0].finish_reason).toBe(expected);
    expect(readChunks((await streamResult(api, streamOf(api, answer))).texts).finishReason).toBe(expected);
  });

  it.each([
    ['generate-content', 'UNEXPECTED_TOOL_CALL'],
    ['converse', 'malformed_tool_use'],
  ] as const)('%s %s is a failure: the model could not write its call', async (api, reason) => {
    const answer = { blocks: words, reason };
    const { outcome } = await ask({ api, answer: jsonAnswer(jsonOf(api, answer)), body: {} });
    expect(failureOf(outcome)).toMatchObject({ kind: 'failed', cause: 'finish_error' });
    const { error } = await streamResult(api, streamOf(api, answer));
    expect(brokenBy(error).cause).toBe('finish_error');
  });
});

it('a stream that Converse sends in place of JSON is read up to the size that an answer may have, and no further', async () => {
  const [first] = frames(['messageStart', { role: 'assistant' }]).bytes;
  const [piece = Buffer.alloc(0)] = frames([
    'contentBlockDelta',
    { contentBlockIndex: 0, delta: { text: 'x'.repeat(1_000_000) } },
  ]).bytes;
  let readBytes = 0;
  function* pieces() {
    yield first ?? piece;
    while (readBytes < 2 * upstreamBodyMaxBytes) {
      readBytes += piece.length;
      yield piece;
    }
  }
  const answer: FakeAnswer = {
    contentType: 'application/vnd.amazon.eventstream',
    bytes: { [Symbol.iterator]: pieces } as unknown as Uint8Array[],
  };
  await expect(ask({ api: 'converse', answer, body: {} })).rejects.toThrow('answer too large');
  expect(readBytes).toBeLessThanOrEqual(upstreamBodyMaxBytes + 2 * piece.length);
});

const weatherCall = { id: 'a', name: 'weather' };
const callsWithoutArguments: readonly [Api, FakeAnswer][] = [
  [
    'messages',
    eventStream(
      { type: 'message_start', message: { id: 'm', role: 'assistant', model: 'c', usage: { input_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', ...weatherCall, input: {} } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ),
  ],
  [
    'converse',
    frames(
      ['messageStart', { role: 'assistant' }],
      ['contentBlockStart', { contentBlockIndex: 0, start: { toolUse: { toolUseId: 'a', name: 'weather' } } }],
      ['contentBlockStop', { contentBlockIndex: 0 }],
      ['messageStop', { stopReason: 'tool_use' }],
    ),
  ],
];
it.each(callsWithoutArguments)(
  '%s: a call without arguments is streamed as one that can be read',
  async (api, answer) => {
    const { message } = readChunks((await streamResult(api, answer)).texts);
    expect(message.tool_calls).toEqual([{ id: 'a', type: 'function', function: { name: 'weather', arguments: '{}' } }]);
  },
);

it('an error with a status that says success is looked for in an answer of up to 1 MiB: a longer one was written by a model', async () => {
  const answerOfLength = (characters: number) => {
    const answerJson = jsonOf('messages', { blocks: [{ text: 'x'.repeat(characters) }] });
    return ask({ api: 'messages', answer: jsonAnswer({ ...answerJson, error: { message: 'Slow down.' } }), body: {} });
  };
  expect(failureOf((await answerOfLength(1_000)).outcome).kind).toBe('failed');
  const { outcome } = await answerOfLength(1024 * 1024);
  expect(completionOf(outcome).choices[0].message.content).toHaveLength(1024 * 1024);
});

it.each(['messages', 'responses', 'generate-content'] as const)(
  '%s: an event without end, inside a stream, is too large',
  async (api) => {
    const beginning = streamOf(api, { blocks: [{ text: 'So far, so good' }] }).bytes.slice(
      0,
      api === 'responses' ? 6 : 4,
    );
    const endless = Buffer.from(`data: {"type":"${'x'.repeat(1024 * 1024)}`);
    const bytes = Array.from({ length: Math.ceil(upstreamEventMaxBytes / endless.length) + 3 }, () => endless);
    const { error } = await streamResult(api, { contentType: 'text/event-stream', bytes: [...beginning, ...bytes] });
    expect(error).toBeInstanceOf(RangeError);
  },
);

it("Gemini's answers that reach the limit of one request end there: no second request is made that nothing was reserved for", async () => {
  const candidate = { content: { role: 'model', parts: [{ text: 'So far' }] }, index: 0 };
  const part = {
    candidates: [{ ...candidate, finishReason: 'CONTINUATION', continuationToken: 't' }],
    usageMetadata: { promptTokenCount: 17, candidatesTokenCount: 5 },
  };
  const whole = await ask({ api: 'generate-content', answer: jsonAnswer(part), body: {} });
  const { choices, usage } = completionOf(whole.outcome);
  expect([whole.requests.length, choices[0].finish_reason, usage.total_tokens]).toEqual([1, 'length', 22]);
  const { texts, requests } = await streamResult('generate-content', eventStream(part));
  const read = readChunks(texts);
  expect([requests.length, read.finishReason, read.message.content]).toEqual([1, 'length', 'So far']);
  expect(read.usage).toMatchObject({ total_tokens: 22 });
});
