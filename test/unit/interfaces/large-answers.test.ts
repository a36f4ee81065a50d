// The gateway reads the largest answers that interfaces promise; a larger answer still reports its usage.
import { describe, expect, it } from '#jest';
import { largeBodyMaxBytes, upstreamBodyMaxBytes } from '../../../shared/foundation/constants/index.ts';
import { inOneTurn } from '../../../shared/foundation/time/index.ts';
import {
  chatCompletions,
  readChoices,
  withoutReasoning,
} from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import { embeddings } from '../../../shared/protocol/interfaces/embeddings/index.ts';
import { responses } from '../../../shared/protocol/interfaces/responses/index.ts';
import { startSchemaWork } from '../../../shared/protocol/json-schema/index.ts';
import { inTurns } from '../../support/in-turns.ts';
import { requestOf } from './request-of.ts';

const cost = { cost: 0.5, costUsd: '0.5', mergedUsage: () => ({}) };

describe('an answer of Embeddings', () => {
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
    expect(text.length).toBeLessThan(largeBodyMaxBytes);
    const read = await embeddings.readAnswer(text);
    if (read.kind !== 'answer') throw new Error(read.kind);
    expect(read.answer.usage?.tokens).toMatchObject({ input: 7 });
    const answerText = text.replace('{"prompt_tokens":7}', '{"prompt_tokens":7,"cost":0.5,"cost_usd":"0.5"}');
    expect(requestOf(embeddings, {}).writeAnswer(read.answer, cost).body === answerText).toBe(true);
  });

  it('whose vectors are none is read like any other: beyond its bounds it is refused, and says what it has used', async () => {
    const refusal = await embeddings.readAnswer(answerOf(`[${'{},'.repeat(60)}{}]`));
    expect(refusal).toMatchObject({ kind: 'refused', refused: { usage: { tokens: { input: 7 } } } });
  });
});

describe('an answer with log probabilities', () => {
  const one = { token: ' word', logprob: -0.25, bytes: [32, 119, 111, 114, 100] };
  const usage = { prompt_tokens: 3, completion_tokens: 1_500 };

  const longAnswer = (text: string, beside = '') => {
    const choice = `{"index":0,"message":{"content":${JSON.stringify(text)}},"logprobs":${logprobs}}`;
    return `{"choices":[${choice}],"usage":${JSON.stringify(usage)}${beside}}`;
  };
  const item = JSON.stringify({ ...one, top_logprobs: Array(20).fill(one) });
  const logprobs = `{"content":[${Array(16_384).fill(item).join(',')}]}`;

  it.each([
    ['chat completions', chatCompletions, { logprobs: true }, { logprobs: false, top_logprobs: 0 }],
    ['chat completions', chatCompletions, { top_logprobs: 20 }, { logprobs: null }],
    ['Responses', responses, { top_logprobs: 20 }, { top_logprobs: 0 }],
  ])('may be as long as vectors if it was asked for: %s', (_name, clientInterface, asks, asksNot) => {
    const bytes = [asks, asksNot, {}].map((more) => clientInterface.answerMaxBytes(requestOf(clientInterface, more)));
    expect(bytes).toEqual([largeBodyMaxBytes, upstreamBodyMaxBytes, upstreamBodyMaxBytes]);
  });

  it('of 16,384 tokens is read in many turns, whatever its text says of them', async () => {
    const content = 'So "logprobs": [ and "logprobs": { are members, \\"logprobs": ["';
    const text = longAnswer(content);
    const { read, turns } = await inTurns(() => chatCompletions.readAnswer(text));
    expect(read).toMatchObject({
      kind: 'answer',
      answer: { usage: { tokens: { output: 1_500 } }, outputBytes: content.length },
    });
    expect(turns).toBeGreaterThan(10);
  });

  it('holds no more beside them than any answer, and says what it has used', async () => {
    const x = 'x'.repeat(upstreamBodyMaxBytes);
    const refusal = { kind: 'refused', refused: { usage: { tokens: { output: 1_500 } } } };
    expect(await chatCompletions.readAnswer(longAnswer(x))).toMatchObject(refusal);
    const values = `,"x":[${'{},'.repeat(100_000)}0]`;
    const text = longAnswer('', values);
    expect(await chatCompletions.readAnswer(text)).toMatchObject(refusal);
  });

  it('is read again in turns if its text is repaired for a schema, or its reasoning left out', async () => {
    const format = { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object', required: ['a'] } } };
    const { schemaCheck } = requestOf(chatCompletions, { response_format: format });
    const read = await chatCompletions.readAnswer(
      longAnswer('```json\n{"a":1}\n```').replace('"content"', '"reasoning":"r",$&'),
    );
    if (schemaCheck === undefined || read.kind !== 'answer') throw new Error('one of both is not read');
    const { answer } = read;
    const checking = { skipsTruncated: false, schemaWork: startSchemaWork('somebody') };
    const repaired = await inTurns(() => schemaCheck.answer(answer, checking));
    if (repaired.read.kind !== 'valid') throw new Error(repaired.read.mismatch);
    const { json } = repaired.read.answer;
    expect(readChoices(json)).toMatchObject({ choices: [{ message: { content: '{"a":1}' } }] });
    const result = await inTurns(async () => withoutReasoning(json));
    expect(result.read.text.includes('"reasoning"')).toBe(false);
    expect([repaired.turns > 10, result.turns > 10]).toEqual([true, true]);
  });

  it('is no answer if these do not end', async () => {
    for (const beside of [[], Array(100_000).fill('{"token":"a long word"}')]) {
      const text = `{"choices":[{"index":0,"logprobs":{"content":[${beside}{]}}],"usage":{"completion_tokens":9}}`;
      expect(await chatCompletions.readAnswer(text)).toEqual({ kind: 'unreadable' });
    }
  });
});

describe('a long text of a model', () => {
  it('is searched, and counted, in turns of their own', async () => {
    const text = JSON.stringify({ choices: [{ message: { content: 'x'.repeat(inOneTurn.jsonCharacters) } }] });
    const { read, turns } = await inTurns(() => chatCompletions.readAnswer(text));
    expect(read).toMatchObject({ kind: 'answer', answer: { outputBytes: inOneTurn.jsonCharacters } });
    expect(turns).toBeGreaterThanOrEqual(2);
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

  it('is searched, counted and asked for its use in turns of their own if it is long', async () => {
    const text = `{"choices":[{"index":0}],"usage":{"prompt_tokens":3},"x":[${'{},'.repeat(5_000_000)}0]}`;
    const { read, turns } = await inTurns(() => chatCompletions.readAnswer(text));
    expect(read).toMatchObject({ kind: 'refused', refused: { usage: { tokens: { input: 3 } } } });
    expect(turns).toBeGreaterThanOrEqual(5);
  });

  it('is none if it is no JSON', async () => {
    for (const text of ['<html>', '{"choices":[', '[]', '{"usage":{"completion_tokens":9}}']) {
      expect(await chatCompletions.readAnswer(text)).toEqual({ kind: 'unreadable' });
    }
  });
});
