// Responses: reading a request, and the client's answer with events cut anywhere, usage in every form, and every kind
// of end.
import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { responses } from '../../../shared/protocol/interfaces/responses/index.ts';
import { brokenStreamMessages, readEvents, toEventLine } from '../../../shared/protocol/wire/index.ts';
import { requestOf } from './request-of.ts';

type Json = Record<string, unknown>;

const request = requestOf(responses, {});
const openWriter = () => request.openStreamWriter({ mergesUsageChunk: true, endsBrokenStreamWithDone: true });

/** Relays these bytes and returns what a client receives. */
async function relay(chunks: readonly Uint8Array[]): Promise<string> {
  const [reader, writer] = [responses.openEventReader(1), openWriter()];
  let relayedText = '';
  const body = (async function* () {
    yield* chunks;
  })();
  for await (const batch of readEvents(body, 1_000_000)) {
    for (const event of batch) {
      const read = reader.read(event);
      if (read.kind !== 'event') throw new Error(`read as ${read.kind}: ${event.text}`);
      relayedText += writer.event(read.event);
    }
  }
  return relayedText + writer.end;
}

const readOne = (event: Json, name?: string) =>
  responses.openEventReader(1).read({ name, text: JSON.stringify(event) });
const factsOf = (event: Json) => {
  const read = readOne(event);
  if (read.kind !== 'event') throw new Error(`read as ${read.kind}`);
  return read.event.details;
};
const ended = (type: string, response: Json) => factsOf({ type, response });

describe('a stream of Responses', () => {
  it('keeps every event of an unknown type, with its name, whatever is in it', async () => {
    const word = fc.stringMatching(/^[a-z_]{1,12}$/);
    const unknown = fc.record({ type: word.map((each) => `response.new_${each}.delta`), delta: fc.jsonValue() });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(word, unknown)), async (events) => {
        const namedEvents = events.filter(([name]) => name !== 'error');
        const streamText = namedEvents.map(([name, event]) => toEventLine(JSON.stringify(event), name)).join('');
        expect(await relay([Buffer.from(streamText)])).toBe(streamText);
      }),
    );
  });

  it('has output from the first item on, not before: until then another provider may answer', () => {
    const silent = ['response.created', 'response.in_progress', 'response.queued', 'keepalive'];
    for (const type of silent) expect([type, factsOf({ type, response: {} }).hasOutput]).toEqual([type, false]);
    const output = ['response.output_item.added', 'response.content_part.added', 'response.output_text.delta'];
    for (const type of [...output, 'response.completed', 'response.unheard_of']) {
      expect([type, factsOf({ type, response: {} }).hasOutput]).toEqual([type, true]);
    }
  });

  it('is estimated by its deltas of whatever kind, and not by the whole texts that repeat them', () => {
    const kinds = ['output_text', 'reasoning_summary_text', 'function_call_arguments', 'refusal'];
    for (const kind of kinds) {
      expect(factsOf({ type: `response.${kind}.delta`, delta: 'é!' }).outputBytes).toBe(3);
      expect(factsOf({ type: `response.${kind}.done`, text: 'é!', arguments: 'é!' }).outputBytes).toBe(0);
    }
    expect(factsOf({ type: 'response.audio.delta', delta: { data: 'é!' } }).outputBytes).toBe(0);
  });

  it.each(['response.completed', 'response.incomplete'])('ends well with %s, which says what it used', (type) => {
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 40, cache_write_tokens: 7 },
      output_tokens: 50,
      output_tokens_details: { reasoning_tokens: 30 },
    };
    const status = type.slice('response.'.length);
    const details = ended(type, { id: 'resp_1', status, usage, model: 'm' });
    expect(details).toMatchObject({ isLast: true, model: 'm', finishReasons: [status] });
    expect(details.usage).toEqual({
      members: usage,
      tokens: expect.objectContaining({
        input: 100,
        cached: 40,
        cacheWrite: 7,
        cacheWrite1h: 0,
        output: 50,
        reasoning: 30,
      }),
    });
  });

  it.each<[string, unknown, unknown]>([
    ['none', undefined, undefined],
    ['null', null, undefined],
    ['no object', 'many', undefined],
    ['details of null', { input_tokens: 3, output_tokens: 2, input_tokens_details: null }, { input: 3, cached: 0 }],
    ['numbers that are none', { input_tokens: '3', output_tokens: -2 }, { cached: 0, reasoning: 0 }],
  ])('whose usage is %s is read as far as it says something', (_what, usage, tokens) => {
    const report = ended('response.completed', { status: 'completed', usage }).usage;
    if (tokens === undefined) expect(report).toBeUndefined();
    else expect(report?.tokens).toMatchObject(tokens as object);
  });

  it('fails with response.failed and with error, by its type or by its name, flat or nested', () => {
    const error = { code: 'rate_limit_exceeded', message: 'Slow down' };
    expect(readOne({ type: 'response.failed', response: { error } })).toEqual({ kind: 'error', error: { error } });
    expect(readOne({ type: 'response.failed' })).toEqual({ kind: 'error', error: { error: {} } });
    expect(readOne({ type: 'error', ...error })).toMatchObject({ kind: 'error', error: { error } });
    expect(readOne({ type: 'error', error })).toMatchObject({ kind: 'error', error: { error } });
    expect(readOne({ ...error }, 'error')).toMatchObject({ kind: 'error', error: { error } });
    for (const text of ['{"type":"response.comp', '7', '[DONE]', 'null']) {
      expect(responses.openEventReader(1).read({ text })).toEqual({ kind: 'unreadable' });
    }
  });

  it('that broke goes on counting where the provider stopped, under the id that began', () => {
    const writer = openWriter();
    const began = { type: 'response.created', sequence_number: 41, response: { id: 'resp_began' } };
    const read = readOne(began);
    if (read.kind === 'event') writer.event(read.event);
    const [error, failed] = writer
      .broken('rate_limited')
      .trim()
      .split('\n\n')
      .map((event) => JSON.parse(event.split('\ndata: ')[1] ?? ''));
    const message = brokenStreamMessages.rate_limited;
    expect(error).toEqual({ type: 'error', code: 'rate_limited', message, sequence_number: 42 });
    const reason = { code: 'server_error', message: expect.stringContaining('rate_limited') };
    const response = { id: 'resp_began', object: 'response', status: 'failed', error: reason };
    expect(failed).toMatchObject({ type: 'response.failed', sequence_number: 43, response });
  });
});

describe('a JSON response', () => {
  it.each<[string, Json, string]>([
    ['with a list as output', { object: 'response', output: [] }, 'answer'],
    ['that is incomplete', { status: 'incomplete', output: [], incomplete_details: {} }, 'answer'],
    ['without output', { object: 'response' }, 'unreadable'],
    ['whose output is no list', { output: {} }, 'unreadable'],
    ['that failed', { status: 'failed', output: [], error: { code: 'server_error' } }, 'error'],
    ['with an error beside its output', { output: [], error: { code: 'server_error' } }, 'error'],
    ['with an error that is null', { output: [], error: null }, 'answer'],
  ])('%s is read as it is', async (_what, body, kind) => {
    expect((await responses.readAnswer(JSON.stringify(body))).kind).toBe(kind);
  });

  it('is written as it came but for usage, whatever is in it', async () => {
    const cost = { cost: 0.5, costUsd: '0.5', mergedUsage: () => ({}) };
    const item = fc.record({ type: fc.string(), content: fc.jsonValue() });
    await fc.assert(
      fc.asyncProperty(fc.array(item), fc.jsonValue(), async (output, extra) => {
        // Blanks, line ends and the provider's order of fields stay too.
        const text = `\n${JSON.stringify({ output, usage: { input_tokens: 1 }, extra }, null, 2)} `;
        const read = await responses.readAnswer(text);
        if (read.kind !== 'answer') throw new Error(`read as ${read.kind}`);
        // Only the usage of the response itself is replaced, not a `usage` inside its items.
        const changedText = text.replace(
          /\n {2}"usage": \{\n {4}"input_tokens": 1\n {2}\}/,
          () => '\n  "usage": {"input_tokens":1,"cost":0.5,"cost_usd":"0.5"}',
        );
        expect(request.writeAnswer(read.answer, cost).body).toBe(changedText);
      }),
    );
  });
});
