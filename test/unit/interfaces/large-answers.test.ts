// The largest answers that interfaces promise are read; what is larger still says what it has used.
import { describe, expect, it } from '#jest';
import { upstreamBodyMaxBytes } from '../../../shared/foundation/constants/index.ts';
import { chatCompletions } from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import { embeddings } from '../../../shared/protocol/interfaces/embeddings/index.ts';
import { responses } from '../../../shared/protocol/interfaces/responses/index.ts';
import { jsonTextOf } from '../../../shared/protocol/wire/index.ts';

const cost = { cost: 0.5, costUsd: '0.5', mergedUsage: () => ({}) };

describe('an answer of Embeddings', () => {
  const request = embeddings.readRequest(jsonTextOf({ model: 'm', input: 'a' }), {
    bodyBytes: 9,
    dropsIdleMembers: false,
  });
  if (!('writeAnswer' in request)) throw request;
  const answerOf = (embedding: string) => {
    const item = `{"object":"embedding","index":0,"embedding":${embedding}}`;
    return `{"object":"list","data":[${Array(2_048).fill(item).join(',')}],"usage":{"prompt_tokens":7}}`;
  };

  it.each([
    ['numbers', `[${Array(1_536).fill('-0.01234567890123').join(', ')}]`],
    ['base64', `"${'A1+/'.repeat(3_072)}"`],
  ])('of 2,048 vectors of %s is written as it came but for its usage', async (_what, embedding) => {
    const text = answerOf(embedding);
    expect(text.length).toBeGreaterThan(upstreamBodyMaxBytes);
    expect(text.length).toBeLessThan(embeddings.answerMaxBytes);
    const read = await embeddings.readAnswer(text);
    if (read.kind !== 'answer') throw new Error(read.kind);
    expect(read.answer.usage?.tokens).toMatchObject({ input: 7 });
    const written = text.replace('{"prompt_tokens":7}', '{"prompt_tokens":7,"cost":0.5,"cost_usd":"0.5"}');
    expect(request.writeAnswer(read.answer, cost).body === written).toBe(true);
  });

  it('whose vectors are none is read like any other: beyond its bounds it is refused, and says what it has used', async () => {
    const refused = await embeddings.readAnswer(answerOf(`[${'{},'.repeat(60)}{}]`));
    expect(refused).toMatchObject({ kind: 'refused', refused: { usage: { tokens: { input: 7 } } } });
  });
});

describe('an answer with log probabilities', () => {
  const one = { token: ' word', logprob: -0.25, bytes: [32, 119, 111, 114, 100] };
  const content = Array(1_500).fill({ ...one, top_logprobs: Array(20).fill(one) });
  const usage = { prompt_tokens: 3, completion_tokens: 1_500 };

  it('is read with 20 of them for each token of a long answer', async () => {
    const choice = {
      index: 0,
      finish_reason: 'stop',
      message: { role: 'assistant', content: 'Hi' },
      logprobs: { content },
    };
    const read = await chatCompletions.readAnswer(JSON.stringify({ choices: [choice], usage }));
    expect(read).toMatchObject({ kind: 'answer', answer: { usage: { tokens: { output: 1_500 } }, outputBytes: 2 } });
  });

  it('is no answer where these do not end', async () => {
    const text = '{"choices":[{"index":0,"logprobs":{"content":[{]}}],"usage":{"completion_tokens":9}}';
    expect(await chatCompletions.readAnswer(text)).toEqual({ kind: 'unreadable' });
  });
});

describe('an event of Responses', () => {
  it('may hold an image of fifteen megabytes', () => {
    const image = 'A1+/'.repeat(3_900_000);
    const item = { type: 'image_generation_call', result: image };
    const text = JSON.stringify({ type: 'response.output_item.done', sequence_number: 7, item });
    const read = responses.openEventReader(1).read({ text });
    expect(read).toMatchObject({ kind: 'event', event: { details: { hasOutput: true, sequenceNumber: 7 } } });
  });
});

describe('an answer that is more than the gateway hands on', () => {
  it.each([
    [
      'of too many values',
      `{"choices":[{"index":0}],"x":[${'{},'.repeat(100_000)}0],"usage":{"prompt_tokens":3,"completion_tokens":9}}`,
    ],
    [
      'of too many choices',
      JSON.stringify({ choices: Array(129).fill({}), usage: { prompt_tokens: 3, completion_tokens: 9 } }),
    ],
  ])('%s says what it has used', async (_what, text) => {
    expect(await chatCompletions.readAnswer(text)).toMatchObject({
      kind: 'refused',
      refused: { usage: { tokens: { input: 3, output: 9 } } },
    });
  });

  it('is none where it is no JSON', async () => {
    for (const text of ['<html>', '{"choices":[', '[]', '{"usage":{"completion_tokens":9}}']) {
      expect(await chatCompletions.readAnswer(text)).toEqual({ kind: 'unreadable' });
    }
  });
});
