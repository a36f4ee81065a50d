// Refusals of the simulated providers, as those of real providers, each with a request that only this rule refuses.
import { describe, expect, it } from '#jest';
import { refusalOf } from '../../../infra/local/simulator/call.ts';
import { formats } from '../../../infra/local/simulator/formats/known-formats.ts';

function providerRefusal(name: string, body: unknown, model: string): string | undefined {
  const format = formats.find((one) => one.name === name);
  if (format === undefined) throw new Error(`no format ${name}`);
  return refusalOf(format, body, model);
}

const user = { role: 'user', content: 'Hello' };
const properties = Object.fromEntries(Array.from({ length: 25 }, (_one, index) => [`p${index}`, { type: 'string' }]));
const wide = { type: 'object', properties, additionalProperties: false };
const bounded = { type: 'object', properties: { n: { type: 'array', maxItems: 3 } }, additionalProperties: false };
const spec = (json: object) => ({
  toolConfig: { tools: [{ toolSpec: { name: 'f', strict: true, inputSchema: { json } } }] },
});
const claude = 'anthropic.claude-sonnet-4-6-v1:0';

const strictTools: readonly (readonly [string, object, string])[] = [
  [
    'messages',
    { tools: [{ name: 'f', strict: true, input_schema: bounded }] },
    "tools.0.custom: For 'array' type, properties maxItems",
  ],
  ['messages', { tools: [{ name: 'f', strict: true, input_schema: wide }] }, 'too many optional parameters (25)'],
  ['converse', spec(bounded), "tools.0.custom: For 'array' type, properties maxItems"],
  ['converse', spec(wide), 'too many optional parameters (25)'],
];

describe('a strict tool of Claude', () => {
  it.each(strictTools)('is refused by %s beyond its subset', (format, body, words) => {
    expect(providerRefusal(format, body, claude)).toContain(words);
    expect(
      providerRefusal(format, JSON.parse(JSON.stringify(body).replaceAll('true', 'false')), claude),
    ).toBeUndefined();
  });

  it('is taken by models of other makers on Converse', () => {
    expect(providerRefusal('converse', spec(bounded), 'amazon.nova-pro-v1:0')).toBeUndefined();
  });
});

const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} };
const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'x' };
const toolUse = { toolUse: { toolUseId: 'c', name: 'f', input: {} } };
const toolResult = { toolResult: { toolUseId: 'c', content: [{ text: 'x' }] } };
const chatCall = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
};
const chatResult = { role: 'tool', tool_call_id: 'c', content: 'x' };
const itemCall = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
const itemResult = { type: 'function_call_output', call_id: 'c', output: 'x' };
const part = { functionCall: { name: 'f', args: {} } };
const signedPart = { ...part, thoughtSignature: 'c2ln' };
const answerPart = { functionResponse: { name: 'f', response: {} } };
const model = (...parts: object[]) => ({ role: 'model', parts });
const asUser = (...parts: object[]) => ({ role: 'user', parts });
const assistant = (...content: object[]) => ({ role: 'assistant', content });

/** Format, model, refused body, its error text, and an accepted body that differs in nothing else. */
const histories: readonly (readonly [string, string, object, string, object])[] = [
  [
    'messages',
    'claude-opus-5',
    { messages: [user, { role: 'user', content: [result] }] },
    'unexpected `tool_use_id`',
    { messages: [user, assistant(call), { role: 'user', content: [result] }] },
  ],
  [
    'messages',
    'claude-opus-5',
    { messages: [user, assistant({ type: 'thinking', thinking: 'Hm.' })] },
    'thinking.signature: Field required',
    { messages: [user, assistant({ type: 'thinking', thinking: 'Hm.', signature: 's' })] },
  ],
  [
    'converse',
    claude,
    { messages: [{ role: 'user', content: [toolResult] }] },
    'exceeds the number of toolUse blocks',
    { messages: [assistant(toolUse), { role: 'user', content: [toolResult] }] },
  ],
  [
    'chat-completions',
    'gpt-4.1',
    { messages: [user, chatResult] },
    "messages with role 'tool'",
    { messages: [user, chatCall, chatResult] },
  ],
  [
    'responses',
    'gpt-4.1',
    { input: [itemResult] },
    'No tool call found for function call output with call_id c',
    { input: [itemCall, itemResult] },
  ],
  [
    'generate-content',
    'gemini-2.5-pro',
    { contents: [asUser(answerPart)] },
    'number of function response parts',
    { contents: [model(part), asUser(answerPart)] },
  ],
  [
    'generate-content',
    'gemini-3-pro',
    { contents: [model(part), asUser(answerPart)] },
    'missing a thought_signature',
    { contents: [model(signedPart, part), asUser(answerPart, answerPart)] },
  ],
];

describe('a conversation that comes back', () => {
  it.each(histories)('to %s (%s) is refused if something is missing', (format, name, bad, words, good) => {
    expect(providerRefusal(format, bad, name)).toContain(words);
    expect(providerRefusal(format, good, name)).toBeUndefined();
  });
});

const calls = (...ids: readonly string[]) => ({
  ...chatCall,
  tool_calls: ids.map((id) => ({ ...chatCall.tool_calls[0], id })),
});
const resultOf = (id: string) => ({ ...chatResult, tool_call_id: id });
const answer = { role: 'assistant', content: 'So.' };
const [one, two] = ['abcDEF123', 'abcDEF124'] as const;
const mistral = 'mistral-large-latest';
const image = { toolResult: { toolUseId: 'c', content: [{ image: {} }] } };
const failed = { toolResult: { ...toolResult.toolResult, status: 'error' } };
const thought = { role: 'assistant', content: [{ type: 'thinking', thinking: [] }] };

/** Model, refused messages, their error text, and accepted messages. */
const turns: readonly (readonly [string, string, readonly object[], string, readonly object[]])[] = [
  [
    'chat-completions',
    mistral,
    [user, calls('call_1'), resultOf('call_1')],
    'but must be a-z, A-Z, 0-9, with a length of 9',
    [user, calls(one), resultOf(one)],
  ],
  [
    'chat-completions',
    `mistralai/${mistral}`,
    [user, calls('call_1'), resultOf('call_1')],
    'with a length of 9',
    [user, calls(one), resultOf(one)],
  ],
  [
    'chat-completions',
    mistral,
    [user, calls(one, two), resultOf(one)],
    'Not the same number',
    [user, calls(one, two), resultOf(one), resultOf(two)],
  ],
  [
    'chat-completions',
    mistral,
    [user, calls(one), resultOf(one), user],
    "Unexpected role 'user' after role 'tool'",
    [user, calls(one), resultOf(one), answer, user],
  ],
  ['chat-completions', mistral, [user, answer], 'Expected last role', [user, { ...answer, prefix: true }]],
  [
    'chat-completions',
    mistral,
    [user, { ...answer, reasoning_content: 'Hm.' }, user],
    'Extra inputs',
    [user, answer, user],
  ],
  ['chat-completions', 'qwen3-coder', [user, user], 'must alternate', [user, answer, user]],
  [
    'chat-completions',
    'deepseek-chat',
    [{ ...user, role: 'developer' }, user],
    'unknown variant `developer`',
    [{ ...user, role: 'system' }, user],
  ],
  ['chat-completions', 'gpt-4.1', [user, thought, user], "Invalid value: 'thinking'", [user, answer, user]],
  [
    'converse',
    'us.meta.llama3-3-70b-instruct-v1:0',
    [user, assistant(toolUse), { role: 'user', content: [image] }],
    'image field',
    [user, assistant(toolUse), { role: 'user', content: [toolResult] }],
  ],
  [
    'converse',
    'us.meta.llama3-3-70b-instruct-v1:0',
    [user, assistant(toolUse), { role: 'user', content: [failed] }],
    'status field',
    [user, assistant(toolUse), { role: 'user', content: [toolResult] }],
  ],
];

describe('the turns of a chat', () => {
  it.each(turns)('on %s (%s) are refused if its maker refuses them', (format, name, bad, words, good) => {
    expect(providerRefusal(format, { messages: bad }, name)).toContain(words);
    expect(providerRefusal(format, { messages: good }, name)).toBeUndefined();
  });
});

/** Rules whose requests `test/flow/refused-by-providers` sends through the gateway. */
const ofEveryDay = [
  'chat-completions https://github.com/BerriAI/litellm/issues/34569',
  'chat-completions https://github.com/bolna-ai/bolna/issues/1019',
  'chat-completions https://platform.openai.com/docs/guides/function-calling#strict-mode',
  'converse https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html',
  'converse https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html',
  'converse https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-adaptive-thinking.html',
  'converse https://github.com/aws-samples/generative-ai-use-cases/issues/1685',
  'messages https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-adaptive-thinking.html',
  'responses https://github.com/bolna-ai/bolna/issues/1019',
  'responses https://platform.openai.com/docs/guides/function-calling#strict-mode',
];

describe('a refusal', () => {
  it.each(formats.flatMap(({ name, refusals = [] }) => refusals.map((rule) => [name, rule.source] as const)))(
    'of %s has a public source: %s',
    (_name, source) => {
      expect(source).toMatch(/^https:\/\/\S+$/);
    },
  );

  it('has a case here, or is shown by the requests of every day', () => {
    const cases = [
      ...strictTools.map(([format, body]) => ({ format, body, model: claude })),
      ...histories.map(([format, model, body]) => ({ format, body, model })),
      ...turns.map(([format, model, messages]) => ({ format, body: { messages }, model })),
    ];
    const unshown = formats.flatMap(({ name, refusals = [] }) =>
      refusals.flatMap((rule) =>
        cases.some(({ format, body, model }) => format === name && rule.why(body, model) !== undefined)
          ? []
          : `${name} ${rule.source}`,
      ),
    );
    expect(unshown.toSorted()).toEqual(ofEveryDay);
  });
});
