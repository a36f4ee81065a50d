// Fields that say who calls and what the provider stores, if both interfaces have words for them.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type Harness, startHarness } from '../support/harness.ts';

type Json = Record<string, unknown>;

let gateway: Harness;
beforeAll(async () => {
  gateway = await startHarness({
    models: {
      'to/messages': [{ provider: 'messages', upstream: 'claude-opus-5/echo' }],
      'to/responses': [{ provider: 'responses', upstream: 'gpt-5-mini/echo' }],
      'to/chat': [{ provider: 'openai', upstream: 'gpt-5-mini/echo' }],
      'to/plain': [{ provider: 'plain', upstream: 'qwen3/echo' }],
      'to/named': [{ provider: 'named', upstream: 'qwen3/echo' }],
      'to/openrouter': [{ provider: 'openrouter', upstream: 'qwen3/echo' }],
      ...Object.fromEntries(
        ['groq', 'xai', 'deepseek', 'cerebras', 'fireworks', 'mistral', 'together'].map((kind) => [
          `to/${kind}`,
          [{ provider: kind, upstream: 'qwen3/echo' }],
        ]),
      ),
    },
    providers: {
      messages: { apis: ['messages'] },
      responses: { apis: ['responses'] },
      openai: { kind: 'openai', apis: ['chat-completions'] },
      named: { reasoning_style: 'effort' },
      openrouter: { kind: 'openrouter', apis: ['chat-completions'] },
      ...Object.fromEntries(
        ['groq', 'xai', 'deepseek', 'cerebras', 'fireworks', 'mistral', 'together'].map((kind) => [
          kind,
          { kind, apis: ['chat-completions'] },
        ]),
      ),
    },
  });
});
afterAll(() => gateway.stop());

const user = { role: 'user', content: 'Hello' };
const paths: Readonly<Record<string, readonly [string, Json]>> = {
  chat: ['/chat/completions', { messages: [user] }],
  messages: ['/messages', { messages: [user], max_tokens: 50 }],
  responses: ['/responses', { input: [user], store: false }],
};

async function ask(client: string, model: string, more: Json): Promise<{ sentBody: Json; leftOut: readonly string[] }> {
  const [path, body] = paths[client] ?? ['', {}];
  gateway.simulator.clear();
  const answer = await gateway.postTo(path, { model, ...body, ...more });
  expect([answer.status, await answer.text()]).toMatchObject([200, {}]);
  const sentBody = gateway.simulator.calls[0]?.body as Json;
  return { sentBody, leftOut: answer.headers.get('x-gw-left-out')?.split(',') ?? [] };
}

describe('what a request says of its user and its cache', () => {
  it.each([
    ['chat', 'to/messages', { safety_identifier: 's', user: 'u' }, { metadata: { user_id: 's' } }],
    ['responses', 'to/messages', { safety_identifier: 's' }, { metadata: { user_id: 's' } }],
    ['messages', 'to/chat', { metadata: { user_id: 'u' } }, { safety_identifier: 'u', prompt_cache_key: 'u' }],
    ['messages', 'to/responses', { metadata: { user_id: 'u' } }, { safety_identifier: 'u', prompt_cache_key: 'u' }],
    [
      'responses',
      'to/chat',
      { safety_identifier: 's', prompt_cache_key: 'k', text: { verbosity: 'low' } },
      { safety_identifier: 's', prompt_cache_key: 'k', verbosity: 'low' },
    ],
    ['responses', 'to/chat', { store: true, metadata: { team: 'a' } }, { store: true, metadata: { team: 'a' } }],
    ['chat', 'to/responses', { store: true, metadata: { team: 'a' } }, { store: true, metadata: { team: 'a' } }],
    ['chat', 'to/responses', { verbosity: 'low', user: 'u' }, { text: { verbosity: 'low' }, safety_identifier: 'u' }],
    ['responses', 'to/openrouter', { user: 'u' }, { user: 'u' }],
  ])(
    'reaches the target in its own words, and is not reported as left out: %s %s %j',
    async (client, model, more, fields) => {
      const { sentBody, leftOut } = await ask(client, model, more);
      expect(sentBody).toMatchObject(fields);
      expect(leftOut).toEqual([]);
    },
  );

  it.each([
    [
      'chat',
      'to/messages',
      { metadata: { a: 'b' }, store: true, prompt_cache_key: 'k' },
      ['metadata', 'prompt_cache_key', 'store'],
    ],
    ['responses', 'to/chat', { metadata: { a: 'b' } }, ['metadata']],
  ])('is reported if the target has no words for it: %s %s %j', async (client, model, more, fieldNames) => {
    const { sentBody, leftOut } = await ask(client, model, more);
    expect([...leftOut].sort()).toEqual(fieldNames);
    for (const name of ['metadata', 'prompt_cache_key']) expect(sentBody).not.toHaveProperty(name);
  });

  it('is shortened alike each time if it is longer than the target takes', async () => {
    const id = `user_${'x'.repeat(300)}`;
    const [first, second] = [
      await ask('messages', 'to/chat', { metadata: { user_id: id } }),
      await ask('chat', 'to/responses', { user: id }),
    ];
    expect(String(first.sentBody.safety_identifier)).toHaveLength(64);
    expect(second.sentBody.safety_identifier).toBe(first.sentBody.safety_identifier);
    expect(String((await ask('chat', 'to/messages', { user: id })).sentBody.metadata)).not.toContain(id);
  });
});

describe('what Responses and Messages say of user, session, metadata and verbosity', () => {
  const fields = { user: 'u', prompt_cache_key: 'k', metadata: { a: 'b' }, text: { verbosity: 'low' } };
  const names = ['user', 'user_id', 'prompt_cache_key', 'metadata', 'verbosity', 'safety_identifier'];
  const namesOf = (fields: Json) =>
    Object.fromEntries(names.flatMap((name) => (name in fields ? [[name, fields[name]]] : [])));
  const all = ['metadata', 'prompt_cache_key', 'text.verbosity', 'user'];
  const [user, cacheKey, metadata] = [{ user: 'u' }, { prompt_cache_key: 'k' }, { metadata: { a: 'b' } }];

  it.each<[string, Json, Json]>([
    ['groq', user, { user: 'c' }],
    ['xai', user, { user: 'c' }],
    ['deepseek', { user_id: 'u' }, { user_id: 'c' }],
    ['cerebras', { ...user, ...cacheKey }, { user: 'c', prompt_cache_key: 'c' }],
    ['fireworks', { ...user, ...cacheKey }, { user: 'c', prompt_cache_key: 'c' }],
    ['mistral', { ...cacheKey, ...metadata }, { prompt_cache_key: 'c' }],
    ['openrouter', { ...user, ...cacheKey, ...metadata, verbosity: 'low' }, { user: 'c', prompt_cache_key: 'c' }],
    ['together', {}, {}],
    ['plain', {}, {}],
  ])(
    'reaches a chat provider of a kind that takes the field, and is reported for others: %s',
    async (kind, expectedFields, ofMessages) => {
      const { sentBody, leftOut } = await ask('responses', `to/${kind}`, fields);
      expect(namesOf(sentBody)).toEqual(expectedFields);
      const carried = Object.keys(expectedFields).map((name) =>
        name === 'verbosity' ? 'text.verbosity' : name.replace('_id', ''),
      );
      expect([...leftOut].sort()).toEqual(all.filter((name) => !carried.includes(name)));
      const claude = await ask('messages', `to/${kind}`, { metadata: { user_id: 'c' } });
      expect(namesOf(claude.sentBody)).toEqual(ofMessages);
      expect(claude.leftOut).toEqual(Object.keys(ofMessages).length === 0 ? ['metadata'] : []);
    },
  );
});

describe('an effort for a chat provider with an unknown model', () => {
  const cases = [
    ['messages', { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }, 'output_config.effort'],
    ['responses', { reasoning: { effort: 'max' } }, 'reasoning.effort'],
  ] satisfies (readonly [string, Json, string])[];

  it.each(cases)(
    'is sent unchanged if the file names its style, and nothing is reported: %s',
    async (client, more, _member) => {
      const namedCall = await ask(client, 'to/named', more);
      expect(namedCall).toMatchObject({ sentBody: { reasoning_effort: 'max' }, leftOut: [] });
      const ofKind = await ask(client, 'to/openrouter', more);
      expect(ofKind).toMatchObject({ sentBody: { reasoning: { effort: 'max' } }, leftOut: [] });
    },
  );

  it.each(cases)('is not sent if it does not, and is reported: %s', async (client, more, member) => {
    const { sentBody, leftOut } = await ask(client, 'to/plain', more);
    expect([sentBody.reasoning_effort, sentBody.reasoning, sentBody.thinking]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(leftOut).toEqual([member]);
  });
});
