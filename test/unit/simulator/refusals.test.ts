// Refusals of the simulated providers, as of real ones, each with a request that only that rule refuses.
import { describe, expect, it } from '#jest';
import { providerRefusal } from '../../../infra/local/simulator/provider-refusals.ts';
import { historyRefusals } from '../../../infra/local/simulator/refused-histories.ts';

const user = { role: 'user', content: 'Hello' };
const properties = Object.fromEntries(Array.from({ length: 25 }, (_one, index) => [`p${index}`, { type: 'string' }]));
const wide = { type: 'object', properties, additionalProperties: false };
const bounded = { type: 'object', properties: { n: { type: 'array', maxItems: 3 } }, additionalProperties: false };
const spec = (json: object) => ({
  toolConfig: { tools: [{ toolSpec: { name: 'f', strict: true, inputSchema: { json } } }] },
});
const claude = 'anthropic.claude-sonnet-4-6-v1:0';

describe('a strict tool of Claude', () => {
  it.each([
    [
      'messages',
      { tools: [{ name: 'f', strict: true, input_schema: bounded }] },
      "tools.0.custom: For 'array' type, properties maxItems",
    ],
    ['messages', { tools: [{ name: 'f', strict: true, input_schema: wide }] }, 'too many optional parameters (25)'],
    ['converse', spec(bounded), "tools.0.custom: For 'array' type, properties maxItems"],
    ['converse', spec(wide), 'too many optional parameters (25)'],
  ])('is refused by %s beyond its subset', (format, body, words) => {
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

/** Format, model, refused body, its error text, and an accepted body that differs in that alone. */
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
  it.each(histories)('to %s (%s) is refused where something is missing', (format, name, bad, words, good) => {
    expect(providerRefusal(format, bad, name)).toContain(words);
    expect(providerRefusal(format, good, name)).toBeUndefined();
  });

  it('has a case for each rule, and each rule a public source', () => {
    expect(histories.map(([format]) => format).sort()).toEqual(
      historyRefusals.flatMap(({ formats }) => formats).sort(),
    );
    for (const { source } of historyRefusals) expect(source).toMatch(/^https:\/\/github\.com\/.+\/(issues|pull)\/\d+$/);
  });
});
