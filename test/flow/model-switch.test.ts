// A conversation with tools and reasoning goes on with a model of another format, in the middle of a turn and back
// again, for clients of every interface. The simulated providers refuse what the real providers refuse: foreign
// reasoning, calls without a signature, ids and names in other forms, calls without results and results without calls.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { encryptedBy, redactedReasoning, signatureOf } from '../../infra/local/simulator/signature.ts';
import {
  type ConversingInterface,
  conversingInterfaces,
  startConversation,
  toolName,
} from '../support/conversations.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { type ScriptedProvider, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';

const formats = ['chat-completions', 'messages', 'converse', 'generate-content', 'responses'] as const;
type Format = (typeof formats)[number];
/** Each model reasons, and its provider is strict about reasoning that comes back. */
const upstreams: Readonly<Record<Format, string>> = {
  'chat-completions': 'gpt-4.1/reasoning',
  messages: 'claude-sonnet-4-5/redacted-reasoning',
  converse: 'anthropic.claude-haiku-4-5-v1/redacted-reasoning',
  'generate-content': 'gemini-3-pro/reasoning',
  responses: 'gpt-5.4/reasoning',
};
const thought = 'The user wants an answer. I should give a short one.';
/** Returns the signatures that a model needs back. Gemini signs the calls. */
const ownSigns = (format: Format): readonly string[] =>
  ({
    'chat-completions': [thought],
    messages: [signatureOf(thought), redactedReasoning],
    converse: [signatureOf(thought), redactedReasoning],
    'generate-content': [signatureOf(toolName)],
    responses: [encryptedBy(upstreams.responses, thought)],
  })[format];

/** The answer of a server that numbers its calls anew in each answer, in characters that other providers refuse. */
const countedCall = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'kimi',
  choices: [
    {
      index: 0,
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: `functions.${toolName}:0`,
            type: 'function',
            function: { name: toolName, arguments: '{"city":"Rome"}' },
          },
        ],
      },
    },
  ],
});

let gateway: Harness;
let counting: ScriptedProvider;
beforeAll(async () => {
  const more = { max_output_tokens: 8_192, supported_params: { tools: true } };
  counting = await startScriptedProvider((outgoing) => sendJson(outgoing, countedCall));
  gateway = await startHarness({
    models: Object.fromEntries([
      ...formats.map((format) => [`on/${format}`, [{ provider: format, upstream: upstreams[format], more }]] as const),
      ['on/counting', [{ provider: 'counting', upstream: 'kimi', more }]],
    ]),
    providers: {
      ...Object.fromEntries(formats.map((format) => [format, { apis: [format] }])),
      counting: { apis: ['chat-completions'], base_url: counting.url },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await counting.stop();
});

/** All pairs of formats; each format is as often first as second. */
const pairs = formats.flatMap((first, place) =>
  [1, 2].map((distance) => [first, formats[(place + distance) % formats.length] ?? first] as const),
);
/** A Claude signature is valid at every host; only the other interfaces say which Claude model made it. */
const shareClaude = (client: ConversingInterface, ...both: readonly Format[]): boolean =>
  client === 'chat-completions' && both.every((format) => format === 'messages' || format === 'converse');
/** A client of chat completions gets no signed reasoning from a model to which it is relayed. */
const keepsThinking = (client: ConversingInterface, format: Format): boolean =>
  client !== 'chat-completions' || format !== client;

/** Returns the only request of a turn, as its provider received and accepted it. */
function sentTo(format: Format): string {
  const calls = gateway.simulator.calls.map((call) => [call.provider, call.format, call.status]);
  expect(calls).toEqual([[format, format, 200]]);
  const sentText = gateway.simulator.calls[0]?.bodyText ?? '';
  expect(sentText).not.toContain('gw1.');
  return sentText;
}

const delivered = fc.record({ format: fc.constantFrom(...formats), stream: fc.boolean() });
/** A random turn: the model of the question, and the model that gets the results of its calls, if it makes any. */
const randomTurn = fc.record({ callsTools: fc.boolean(), first: delivered, second: delivered });

describe.each(conversingInterfaces)('a client of %s', (client) => {
  it('holds any conversation with any models, each answer whole or streamed, without an error of either side', () =>
    fc.assert(
      fc.asyncProperty(fc.array(randomTurn, { minLength: 2, maxLength: 8 }), async (turns) => {
        const conversation = startConversation(client, gateway);
        const ask = async ({ format, stream }: { readonly format: Format; readonly stream: boolean }) => {
          gateway.simulator.clear();
          const calls = await conversation.ask(`on/${format}`, stream);
          return { calls, sentText: sentTo(format) };
        };
        for (const [at, { callsTools, first, second }] of turns.entries()) {
          conversation.say(callsTools ? `Call the tools, ${at}` : `Hello, ${at}`);
          const { calls, sentText } = await ask(first);
          expect(calls > 0).toBe(callsTools);
          for (let before = 0; before <= at; before += 1) expect(sentText).toContain(`, ${before}`);
          if (!callsTools) continue;
          conversation.answerCalls(`result ${at}`);
          expect((await ask(second)).sentText).toContain(`result ${at}`);
        }
      }),
      { numRuns: 6 },
    ));

  it.each(pairs)(
    'goes on from %s to %s and from there to the first, with tools and thinking',
    async (first, second) => {
      const conversation = startConversation(client, gateway);
      /** Returns the request as the provider gets it. */
      const ask = async (format: Format, { calls = 0, stream = false }): Promise<string> => {
        gateway.simulator.clear();
        expect(await conversation.ask(`on/${format}`, stream)).toBe(calls);
        return sentTo(format);
      };

      conversation.say('Call the tools');
      await ask(first, { calls: 2 });
      conversation.answerCalls('sunny at first');
      const sentText = await ask(second, {});
      expect(sentText).toContain('sunny at first');
      for (const sign of shareClaude(client, first, second) ? [] : ownSigns(first))
        expect(sentText).not.toContain(sign);

      conversation.say('Call the tools again');
      await ask(second, { calls: 2, stream: true });
      conversation.answerCalls('rainy then');
      const back = await ask(first, { stream: true });
      for (const result of ['sunny at first', 'rainy then']) expect(back).toContain(result);
      for (const sign of keepsThinking(client, first) ? ownSigns(first) : []) expect(back).toContain(sign);

      conversation.say('Thank you.');
      const last = await ask(second, {});
      for (const sign of keepsThinking(client, second) ? ownSigns(second) : []) expect(last).toContain(sign);
    },
  );
});

it.each([
  ['messages', 'messages'],
  ['messages', 'converse'],
  ['responses', 'responses'],
  ['responses', 'messages'],
  ['converse', 'converse'],
  ['converse', 'messages'],
] as const)(
  'a client of %s goes on at %s with calls whose server counts them anew in each answer',
  async (client, format) => {
    const conversation = startConversation(client, gateway);
    conversation.say('Call the tool');
    for (const result of ['sunny', 'rainy']) {
      expect(await conversation.ask('on/counting', false)).toBe(1);
      conversation.answerCalls(result);
    }
    gateway.simulator.clear();
    await conversation.ask(`on/${format}`, false);
    expect(gateway.simulator.calls.map(({ status }) => status)).toEqual([200]);
    for (const result of ['sunny', 'rainy']) expect(gateway.simulator.calls[0]?.bodyText).toContain(result);
  },
);
