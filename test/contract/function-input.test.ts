// The input contract of functions: fields that reach the provider, and fields that are refused with a message about the
// fixed ones. The provider of these functions repeats the request that it received.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { answerOf, ask, modelsFor, prompt, receivedIn, step, workflow } from '../support/function-calls.ts';
import { type Harness, startHarness } from '../support/harness.ts';

type Json = Record<string, unknown>;

const system = { role: 'system', content: 'You label support tickets.' };
const model = 'acme/echo-request';
const ticketSchema = {
  type: 'object',
  properties: { ticket: { type: 'string' }, urgent: { type: 'boolean' }, size: { type: 'integer' } },
  required: ['ticket'],
};

const functions = [
  prompt('text', {
    model,
    messages: [system, { role: 'user', content: 'Ticket: {{input}} Label it. {{input}}' }],
    options: { temperature: 0, max_tokens: 64, seed: 7 },
    response_format: { type: 'text' },
  }),
  prompt('plain', { model, messages: [system] }),
  prompt('ticket', {
    model,
    messages: [system, { role: 'user', content: '{{input.ticket}} | {{input}}' }],
    input: { type: 'object', schema: ticketSchema },
  }),
  prompt('deep', {
    model,
    messages: [{ role: 'user', content: '{{input.a.b}}' }],
    input: { type: 'object', schema: { type: 'object' } },
  }),
  prompt('tagged', { model, options: { user: 'the-function' } }),
  workflow(
    'flow',
    [step('one', 'For {{input.ticket}}', { model, options: { temperature: 1 } })],
    { step: 'one' },
    {
      input: { type: 'object', schema: ticketSchema },
    },
  ),
];

const user = (content: unknown): Json => ({ role: 'user', content });

describe('a function call', () => {
  let gateway: Harness;

  beforeAll(async () => {
    gateway = await startHarness({ models: modelsFor(['echo-request']), workspace: { functions } });
  });
  afterAll(() => gateway.stop());
  beforeEach(() => gateway.simulator.clear());

  const bodyAtProvider = async (body: Json): Promise<Json> => receivedIn(await answerOf(await gateway.post(body))).body;

  async function refusal(body: Json): Promise<string> {
    const { message } = await expectError(await gateway.post(body), 400, 'invalid_function_request');
    expect(gateway.simulator.calls).toHaveLength(0);
    return message;
  }

  describe('sends the provider', () => {
    it('the messages, options and response format of the revision, filled with the text, and nothing else', async () => {
      expect(await bodyAtProvider(ask('text', 'Broken.'))).toEqual({
        model: 'echo-request',
        messages: [system, user('Ticket: Broken. Label it. Broken.')],
        temperature: 0,
        max_tokens: 64,
        seed: 7,
        response_format: { type: 'text' },
      });
    });

    it('the same if the fixed messages are sent along verbatim, or the text as a part', async () => {
      const expected = await bodyAtProvider(ask('text', 'Broken.'));
      const verbatim = ask('text', '', { messages: [system, user('Broken.')] });
      const inParts = ask('text', '', { messages: [user([{ type: 'text', text: 'Broken.' }])] });
      expect(await bodyAtProvider(verbatim)).toEqual(expected);
      expect(await bodyAtProvider(inParts)).toEqual(expected);
    });

    it('the input as a last message if no template refers to it', async () => {
      expect((await bodyAtProvider(ask('plain', 'Hi'))).messages).toEqual([system, user('Hi')]);
    });

    it('parts of an object and the object as compact JSON, large integers and field order as they were', async () => {
      const input = '{ "urgent": true, "size": 12345678901234567890,\n "ticket": "Broken." }';
      expect((await bodyAtProvider(ask('ticket', input))).messages).toEqual([
        system,
        user('Broken. | {"urgent":true,"size":12345678901234567890,"ticket":"Broken."}'),
      ]);
    });

    it.each([
      ['nothing at all', { a: { b: null } }, 'null'],
      ['a number', { a: { b: 1.5 } }, '1.5'],
      ['a list', { a: { b: [1, 'x'] } }, '[1,"x"]'],
      ['an empty text', { a: { b: '' } }, ''],
    ])('values that are no text as JSON: %s', async (_name, input, text) => {
      expect((await bodyAtProvider(ask('deep', input))).messages).toEqual([user(text)]);
    });

    it.each(['{{input}}', '{{input.ticket}}', '{{steps.one.output}}', '{{', '}}{{input', '{{nonsense()}}'])(
      'text that looks like a template as the text that it is: %s',
      async (text) => {
        expect((await bodyAtProvider(ask('plain', text))).messages).toEqual([system, user(text)]);
        const { messages } = await bodyAtProvider(ask('ticket', { ticket: text }));
        expect(messages).toEqual([system, user(`${text} | ${JSON.stringify({ ticket: text })}`)]);
        expect((await bodyAtProvider(ask('flow', { ticket: text }))).messages).toEqual([user(`For ${text}`)]);
      },
    );

    it('user and metadata as they came', async () => {
      const passedFields = { user: 'u-1', metadata: { team: 'blue', nested: { deep: [1] } } };
      for (const alias of ['text', 'plain', 'ticket', 'flow']) {
        expect(await bodyAtProvider(ask(alias, { ticket: 'x' }, passedFields))).toMatchObject(passedFields);
      }
    });

    it('no header of the client but its traceparent, and no model of the client', async () => {
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      const clientHeaders = { traceparent, 'x-title': 'secret-title', 'http-referer': 'https://secret.example' };
      const { headers, body } = receivedIn(await answerOf(await gateway.post(ask('text'), clientHeaders)));
      expect(headers.traceparent).toBe(traceparent);
      expect(JSON.stringify(headers)).not.toMatch(/secret|sk-gw-|authorization/);
      expect(body.model).toBe('echo-request');
    });
  });

  describe('is refused, names what is fixed and calls no provider:', () => {
    const words = (alias: string, more: Json) => refusal(ask(alias, { ticket: 'x' }, more));

    it.each<[string, Json, RegExp]>([
      ['stream', { stream: true }, /not stream\b/],
      ['stream, switched off', { stream: false }, /not stream\b/],
      ['tools', { tools: [{ type: 'function', function: { name: 'f' } }] }, /not tools\b/],
      ['another response format', { response_format: { type: 'json_object' } }, /response_format to text/],
      ['the same response format', { response_format: { type: 'text' } }, /response_format to text/],
      ['temperature', { temperature: 1 }, /not temperature: the function fixes temperature to 0/],
      ['max_tokens', { max_tokens: 65 }, /not max_tokens: the function fixes max_tokens to 64/],
      ['an option that the function leaves open', { top_p: 0.5 }, /not top_p\b/],
      ['max_completion_tokens', { max_completion_tokens: 5 }, /not max_completion_tokens\b/],
      ['provider', { provider: { only: 'acme' } }, /not provider\b/],
      ['cache', { cache: { enabled: true } }, /not cache\b/],
      ['preset', { preset: 'terse' }, /not preset\b/],
      ['reasoning', { reasoning: { effort: 'low' } }, /not reasoning\b/],
      ['usage', { usage: { include: true } }, /not usage\b/],
      ['several', { top_p: 1, n: 2 }, /not top_p, n\b/],
      ['an unknown member', { x_unknown: 1 }, /not x_unknown\b/],
    ])('%s', async (_name, more, message) => {
      expect(await words('text', more)).toMatch(message);
      await words('ticket', more);
      await words('flow', more);
    });

    it('a user or metadata that the function fixes, or of another type', async () => {
      expect(await words('tagged', { user: 'somebody' })).toMatch(/fixes user/);
      expect(await words('text', { user: 5 })).toMatch(/user is of the wrong type/);
      expect(await words('text', { metadata: 'x' })).toMatch(/metadata is of the wrong type/);
    });

    it.each<[string, Json[], RegExp]>([
      ['changed', [{ ...system, content: 'You write poems.' }, user('x')], /messages\[0\].*fixed message/],
      ['of another role', [{ ...system, role: 'developer' }, user('x')], /messages\[0\].*fixed message/],
      ['with a name', [{ ...system, name: 'x' }, user('x')], /messages\[0\].*fixed message/],
      [
        'with one blank more',
        [{ ...system, content: `${system.content} ` }, user('x')],
        /messages\[0\].*fixed message/,
      ],
      ['sent twice', [system, system, user('x')], /3 messages were sent/],
      ['behind the input', [user('x'), system], /messages\[0\].*fixed message/],
      ['left out of two user messages', [user('x'), user('y')], /messages\[0\].*fixed message/],
      ['followed by two', [system, user('x'), user('y')], /3 messages were sent/],
      ['alone', [system], /role/],
      ['followed by an assistant', [system, { role: 'assistant', content: 'x' }], /role/],
    ])('a fixed message %s', async (_name, messages, message) => {
      for (const alias of ['text', 'plain', 'ticket']) {
        const text = await refusal(ask(alias, '', { messages }));
        expect(text).toMatch(message);
        expect(text).not.toMatch(/label|support|tickets/);
      }
    });

    it.each<[string, Json]>([
      ['an image', user([{ type: 'image_url', image_url: { url: 'https://x.example/a.png' } }])],
      [
        'two parts',
        user([
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ]),
      ],
      ['a name', { ...user('x'), name: 'bob' }],
      ['no content', { role: 'user' }],
      ['tool calls', { ...user('x'), tool_calls: [] }],
      ['content of null', user(null)],
    ])('an input message with %s', async (_name, message) => {
      for (const alias of ['text', 'plain']) await refusal(ask(alias, '', { messages: [message] }));
    });

    it.each<[string, string, RegExp]>([
      ['text', 'Broken.', /exactly one JSON object/],
      ['a JSON text', '"ticket"', /exactly one JSON object/],
      ['an object among words', 'Here: {"ticket":"a"}', /exactly one JSON object/],
      ['a large integer', '12345678901234567890', /exactly one JSON object/],
      ['nothing', '', /exactly one JSON object/],
      ['two JSON objects', '{"ticket":"a"}{"ticket":"b"}', /exactly one JSON object/],
      ['two JSON objects on lines', '{"ticket":"a"}\n{"ticket":"b"}', /exactly one JSON object/],
      ['a list', '[{"ticket":"a"}]', /exactly one JSON object/],
      ['null', 'null', /exactly one JSON object/],
      ['JSON that is cut off', '{"ticket":"a"', /exactly one JSON object/],
      ['JSON in a code fence', '```json\n{"ticket":"a"}\n```', /exactly one JSON object/],
      [
        'an object nested without end',
        `{"ticket":"a","x":${'['.repeat(500)}${']'.repeat(500)}}`,
        /exactly one JSON object/,
      ],
      ['a missing member', '{"urgent":true}', /ticket/],
      ['a member of another type', '{"ticket":5}', /ticket/],
      ['a wrong member beside it', '{"ticket":"a","urgent":"yes"}', /\/urgent/],
    ])('an input that should be an object and is %s', async (_name, content, message) => {
      expect(await refusal(ask('ticket', content))).toMatch(message);
      expect(await refusal(ask('flow', content))).toMatch(message);
    });

    it('a workflow input in two user messages, or after a message that is not the function’s', async () => {
      const object = user('{"ticket":"a"}');
      expect(await refusal(ask('flow', '', { messages: [object, object] }))).toMatch(/2 messages were sent/);
      expect(await refusal(ask('flow', '', { messages: [system, object] }))).toMatch(/2 messages were sent/);
    });

    it.each([{}, { a: {} }, { a: 'text' }, { a: [{ b: 1 }] }])('a path that the input lacks: %j', async (input) => {
      expect(await refusal(ask('deep', input))).toContain('{{input.a.b}}');
    });

    it('fields that an object merely inherits', async () => {
      expect(await refusal(ask('deep', '{"a":{"__proto__":{"b":1}}}'))).toContain('{{input.a.b}}');
    });

    it('the refusal repeats nothing that the client wrote', async () => {
      const canary = 'canary-of-the-client';
      const messages = [{ ...system, content: canary }, user(canary)];
      expect(await refusal(ask('text', '', { messages }))).not.toContain(canary);
      expect(await refusal(ask('ticket', { ticket: 5, urgent: canary }))).not.toContain(canary);
      expect(await refusal(ask('text', 'x', { temperature: 1, stop: canary }))).not.toContain(canary);
    });
  });
});
