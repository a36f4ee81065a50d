// Events and usage of Messages, as providers send them and as some servers do.
import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import { messages } from '../../../shared/protocol/interfaces/messages/index.ts';
import { responses } from '../../../shared/protocol/interfaces/responses/index.ts';
import { outputTokensMax } from '../../../shared/routing/billing/worst-case.ts';
import { png } from '../../support/png.ts';
import { requestOf } from './request-of.ts';

type Json = Record<string, unknown>;

const read = (events: readonly Json[]) => {
  const reader = messages.openEventReader(1);
  const readings = events.map((event) => reader.read({ name: String(event.type), text: JSON.stringify(event) }));
  const details = readings.flatMap((reading) => (reading.kind === 'event' ? [reading.event.details] : []));
  return { readings, details, reader, tokens: details.findLast(({ usage }) => usage !== undefined)?.usage?.tokens };
};

const start = (usage: Json) => ({ type: 'message_start', message: { id: 'msg', content: [], usage } });
const end = (usage?: Json) => ({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage });
const block = (content_block: Json) => ({ type: 'content_block_start', index: 0, content_block });
const delta = (of: Json) => ({ type: 'content_block_delta', index: 0, delta: of });

describe('what a stream has used', () => {
  it('is what its start says of the input and its end of the output, thinking included', () => {
    const cacheWrites = { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 };
    const first = {
      input_tokens: 5,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 30,
      cache_creation: cacheWrites,
    };
    const last = { output_tokens: 50, output_tokens_details: { thinking_tokens: 40 } };
    const zeros = { cache_creation_input_tokens: 0, cache_creation: { ephemeral_1h_input_tokens: 0 } };
    for (const more of [{}, zeros]) {
      const { tokens } = read([start({ ...first, output_tokens: 1 }), end({ ...last, ...more })]);
      expect(tokens).toMatchObject({
        input: 135,
        cached: 100,
        cacheWrite: 30,
        cacheWrite1h: 10,
        output: 50,
        reasoning: 40,
      });
    }
  });

  it.each<[string, Json, Json, number, number]>([
    [
      'the input at the end alone',
      { input_tokens: 0, output_tokens: 0 },
      { input_tokens: 70, output_tokens: 9 },
      70,
      9,
    ],
    ['zeros at the end', { input_tokens: 70, output_tokens: 1 }, { input_tokens: 0, output_tokens: 9 }, 70, 9],
    ['nulls at the end', { input_tokens: 70, output_tokens: 1 }, { input_tokens: null, output_tokens: 9 }, 70, 9],
    ['larger totals at the end', { input_tokens: 70, output_tokens: 1 }, { input_tokens: 90, output_tokens: 9 }, 90, 9],
  ])('is read if a server sends %s', (_what, first, last, input, output) => {
    expect(read([start(first), end(last)]).tokens).toMatchObject({ input, output });
  });

  it('counts what the server did beside the message: a compaction and an advisor are charged, and are in no total', () => {
    const beside = {
      input_tokens: 1000,
      output_tokens: 100,
      cache_read_input_tokens: 7,
      cache_creation_input_tokens: 3,
    };
    const iterations = [
      { type: 'compaction', ...beside },
      { type: 'message', input_tokens: 5, output_tokens: 2 },
      { type: 'advisor_message', model: 'larger', input_tokens: 10, output_tokens: 20 },
      { type: 'message', input_tokens: 6, output_tokens: 7 },
      null,
    ];
    const { tokens } = read([start({ input_tokens: 11, output_tokens: 1 }), end({ output_tokens: 9, iterations })]);
    expect(tokens).toMatchObject({ input: 11 + 1010 + 10, cached: 7, cacheWrite: 3, output: 9 + 100 + 20 });
  });

  it('is no report if nothing else is in it: the message itself is estimated', () => {
    const iterations = [{ type: 'compaction', input_tokens: 1000, output_tokens: 100 }];
    expect(read([start({}), end({ iterations })]).tokens).toMatchObject({ input: undefined, output: undefined });
  });

  it('is nothing that a provider can make negative, fractional or a text', () => {
    const odd = fc.oneof(fc.integer(), fc.double(), fc.string(), fc.constant(null));
    fc.assert(
      fc.property(odd, odd, odd, (input_tokens, cache_read_input_tokens, output_tokens) => {
        const { tokens } = read([start({ input_tokens, cache_read_input_tokens, output_tokens }), end()]);
        const { media = {}, ...counts } = tokens ?? {};
        for (const count of [...Object.values(counts), ...Object.values(media)])
          expect((count ?? 0) >= 0 && Number.isInteger(count ?? 0)).toBe(true);
      }),
    );
  });
});

describe('the size of a call: a compaction that a client asks for', () => {
  const long = 'x'.repeat(1_000);
  const sizeOf = (more: Json) =>
    requestOf(messages, { max_tokens: 100, messages: [{ role: 'user', content: long }], ...more }).size();

  it('is reserved as a second answer to the same input; clearing what is old costs nothing', () => {
    const clearing = sizeOf({ context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } });
    expect(clearing).toMatchObject({ choices: 1, contexts: 1, maxOutputTokens: 100 });
    const compacting = sizeOf({ context_management: { edits: [{ type: 'compact_20260112' }] } });
    expect(compacting).toMatchObject({ choices: 2, contexts: 2, maxOutputTokens: 100 });
    expect(compacting.textBytes).toBeGreaterThan(2_000);
  });

  it('is reserved so on Responses too', () => {
    const sizeOfResponse = (more: Json) =>
      requestOf(responses, { max_output_tokens: 100, input: long, ...more }).size();
    const [plain, compacting] = [sizeOfResponse({}), sizeOfResponse({ context_management: [{ type: 'compaction' }] })];
    expect([plain.choices, plain.contexts]).toEqual([1, 1]);
    expect(compacting).toMatchObject({ choices: 2, contexts: 2, maxOutputTokens: 100 });
    expect(compacting.textBytes).toBeGreaterThan(2 * plain.textBytes);
  });

  it('and an advisor is reserved, and charged, beside what max_tokens bounds', () => {
    const advisor = { type: 'advisor_20260301', name: 'advisor', max_uses: 2 };
    const advised = sizeOf({ tools: [advisor] });
    expect(advised).toMatchObject({ choices: 1, contexts: 5, answersBeside: 2 });
    expect(advised.textBytes).toBeGreaterThan(5_000);
    const entry = { max_output_tokens: 8_000, context_length: 100_000 } as Candidate['entry'];
    const provider = { apis: ['messages'], reasoning_tokens: 'included' } as unknown as Candidate['provider'];
    expect(outputTokensMax({ entry, provider }, advised)).toBe(100 + 2 * 8_000);
    expect(sizeOf({ tools: [{ ...advisor, max_uses: undefined }] }).answersBeside).toBe(4);
    expect(sizeOf({ tools: [{ ...advisor, max_uses: 1e9 }] }).answersBeside).toBe(32);
    expect(sizeOf({ tools: [{ name: 'advisor' }] }).answersBeside).toBeUndefined();
  });

  it('and what an image takes is its pixels, not its bytes', () => {
    const data = png(280, 140, 90_000).split(',')[1];
    const content = [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }];
    const { mediaTokens, textBytes } = sizeOf({ messages: [{ role: 'user', content }] });
    expect([mediaTokens, textBytes < 1_000]).toEqual([50, true]);
  });
});

describe('an event', () => {
  it.each<[string, Json, boolean]>([
    ['the start of a message', start({ output_tokens: 1 }), false],
    ['a ping', { type: 'ping' }, false],
    ['a text that only begins', block({ type: 'text', text: '' }), false],
    ['a thought that only begins', block({ type: 'thinking', thinking: '', signature: '' }), true],
    ['a text that begins with something', block({ type: 'text', text: 'H' }), true],
    ['a call of a tool', block({ type: 'tool_use', id: 't', name: 'get', input: {} }), true],
    ['a redacted thought', block({ type: 'redacted_thinking', data: 'x' }), true],
    ['what a tool of the provider found', block({ type: 'web_search_tool_result', content: [] }), true],
    ['a block of a type that is new', block({ type: 'hologram' }), true],
    ['a text', delta({ type: 'text_delta', text: 'H' }), true],
    ['an empty text', delta({ type: 'text_delta', text: '' }), false],
    ['a signature alone', delta({ type: 'signature_delta', signature: 's' }), true],
    ['why the message ended', end(), true],
    ['an event of a type that is new', { type: 'weather', text: 'sunny' }, false],
  ])('is output, or none: %s', (_what, event, hasOutput) => {
    expect(read([event]).details).toMatchObject([{ hasOutput }]);
  });

  it('counts the text that the model wrote, not names, ids, signatures and what tools found', () => {
    const countedBytes = (event: Json) => read([event]).details[0]?.outputBytes;
    expect(countedBytes(delta({ type: 'text_delta', text: 'Grüße' }))).toBe(7);
    expect(countedBytes(delta({ type: 'input_json_delta', partial_json: '{"a":' }))).toBe(5);
    expect(countedBytes(delta({ type: 'signature_delta', signature: 'long and meaningless' }))).toBe(0);
    expect(countedBytes(block({ type: 'web_search_tool_result', content: [{ text: 'found' }] }))).toBe(0);
  });

  it('that says error is one, by its name or its type, and any JSON that is no object breaks the stream', () => {
    const reader = messages.openEventReader(1);
    expect(reader.read({ name: 'error', text: '{"message":"no"}' }).kind).toBe('error');
    expect(reader.read({ text: '{"type":"error","error":{"type":"overloaded_error"}}' }).kind).toBe('error');
    for (const text of ['[]', '"text"', '{', 'null', `${'['.repeat(600)}${']'.repeat(600)}`]) {
      expect(reader.read({ text }).kind).toBe('unreadable');
    }
  });

  it('ends the stream where it stops, and all was said where a reason for the end came', () => {
    const whole = read([start({}), delta({ type: 'text_delta', text: 'H' }), end()]);
    expect(whole.reader.isComplete()).toBe(true);
    expect(read([start({}), delta({ type: 'text_delta', text: 'H' })]).reader.isComplete()).toBe(false);
    expect(read([{ type: 'message_stop' }]).details).toMatchObject([{ isLast: true }]);
  });
});
