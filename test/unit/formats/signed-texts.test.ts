// Gemini signs a text in a part after it. Clients show or continue from the last part, so the signature is never the
// last part.
import { describe, expect, it } from '#jest';
import { eventStream, jsonOf, streamOf } from '../../support/provider-answers.ts';
import { answeredParts } from './answered-parts.ts';
import { ask, completionOf, type FakeAnswer, type Json, jsonAnswer, readTexts } from './fake-send.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into field by field.
type Any = any;

const api = 'generate-content';
const model = 'gemini-3-pro-preview';
const text = { text: 'It is three.' };
const sign = { redacted: 'signature-of-the-text' };
const call = { id: 'a', name: 'weather', args: { city: 'Rome' } };
const tools = { input_schema: { type: 'object' }, parameters: { type: 'object' } };

const clients = {
  messages: {
    asks: { messages: [{ role: 'user', content: 'Hi.' }], tools: [{ name: 'weather', ...tools }] },
    kindOf: ({ type }: Any) => ({ thinking: 'signature', text: 'text', tool_use: 'call' })[type as string],
    goesOn: (parts: Any[]) => ({
      messages: [
        { role: 'user', content: 'Hi.' },
        { role: 'assistant', content: parts },
        { role: 'user', content: 'And?' },
      ],
    }),
  },
  responses: {
    asks: { input: 'Hi.', tools: [{ type: 'function', name: 'weather', ...tools }] },
    kindOf: ({ type }: Any) => ({ reasoning: 'signature', message: 'text', function_call: 'call' })[type as string],
    goesOn: (parts: Any[]) => ({
      input: [{ role: 'user', content: 'Hi.' }, ...parts, { role: 'user', content: 'And?' }],
    }),
  },
} as const;

const eventOf = (part: Json) => ({ candidates: [{ content: { role: 'model', parts: [part] }, index: 0 }] });
const endOf = { candidates: [{ finishReason: 'STOP', index: 0 }] };

describe.each(Object.entries(clients))('a signed text of an answer to a client of %s', (interfaceId, client) => {
  const options = { api, model, interfaceId: interfaceId as keyof typeof clients } as const;

  const answerWith = (stream: boolean, blocks: Parameters<typeof jsonOf>[1]['blocks']): Promise<Any[]> =>
    answersOf(stream ? streamOf(api, { blocks }) : jsonAnswer(jsonOf(api, { blocks })), stream);
  async function answersOf(answer: FakeAnswer, stream: boolean): Promise<Any[]> {
    const { outcome } = await ask({ ...options, answer, stream, body: client.asks as Json });
    const { whole, streamed } = answeredParts[options.interfaceId];
    return stream ? streamed((await readTexts(outcome)).texts) : whole(completionOf(outcome));
  }
  const kindsOf = (parts: readonly Any[]) => parts.map(client.kindOf);
  /** Sends the answer back and returns the parts that the provider gets. */
  async function partsAfterReturn(parts: Any[]): Promise<Any[]> {
    const answer = jsonAnswer(jsonOf(api, { blocks: [text] }));
    const { requests } = await ask({ ...options, answer, body: { ...client.asks, ...client.goesOn(parts) } as Json });
    const body: Any = requests[0]?.body ?? {};
    return body.contents[1].parts;
  }

  it('comes before it in JSON, and goes back with it', async () => {
    const parts = await answerWith(false, [text, sign]);
    expect(kindsOf(parts)).toEqual(['signature', 'text']);
    expect(await partsAfterReturn(parts)).toEqual([{ ...text, thoughtSignature: sign.redacted }]);
  });

  it('comes before it in a stream if it comes with the text, once, and goes back with it', async () => {
    const signedText = { ...text, thoughtSignature: sign.redacted };
    const parts = await answersOf(eventStream(...[signedText, { text: ' And four.' }].map(eventOf), endOf), true);
    expect(kindsOf(parts)).toEqual(['signature', 'text']);
    expect(await partsAfterReturn(parts)).toEqual([
      { text: 'It is three. And four.', thoughtSignature: sign.redacted },
    ]);
  });

  it('is nothing that comes last in a stream', async () => {
    const parts = await answerWith(true, [text, sign]);
    expect(kindsOf(parts)).toEqual(['text']);
    expect(await partsAfterReturn(parts)).toEqual([text]);
  });

  it('comes before a call that follows in a stream, and goes back with it', async () => {
    const parts = await answerWith(true, [text, sign, call]);
    expect(kindsOf(parts)).toEqual(['text', 'signature', 'signature', 'call']);
    const [first, second] = await partsAfterReturn(parts);
    expect(first).toEqual({ ...text, thoughtSignature: sign.redacted });
    expect(second.thoughtSignature).toBe('of a');
  });
});

it.each([false, true])('an image, for which Messages has no place, is said in a text (stream: %s)', async (stream) => {
  const parts = [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }];
  const whole = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }] };
  const answer = stream ? eventStream(whole) : jsonAnswer(whole);
  const { asks } = clients.messages;
  const { outcome } = await ask({ api, model, interfaceId: 'messages', answer, stream, body: asks as Json });
  const texts = outcome.kind === 'json' ? [outcome.answer.text] : (await readTexts(outcome)).texts;
  expect(texts.join('\n')).toContain(
    '[The model answered with a file (image/png), which this interface has no place for.]',
  );
});
