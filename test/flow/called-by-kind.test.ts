import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { providerKinds } from '../../shared/configuration/model-list/index.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';

/** Kind → the end of the path, and the header with the key, as each provider documents them. */
const documented = {
  openai: ['/chat/completions', 'authorization', 'Bearer the-key'],
  azure: ['/chat/completions', 'api-key', 'the-key'],
  anthropic: ['/messages', 'x-api-key', 'the-key'],
  google: ['/models/echo:generateContent', 'x-goog-api-key', 'the-key'],
  bedrock: [
    '/model/echo/converse',
    'authorization',
    expect.stringMatching(/^AWS4-HMAC-SHA256 .*\/eu-west-1\/bedrock\//),
  ],
  groq: ['/chat/completions', 'authorization', 'Bearer the-key'],
  mistral: ['/chat/completions', 'authorization', 'Bearer the-key'],
  deepseek: ['/chat/completions', 'authorization', 'Bearer the-key'],
  xai: ['/chat/completions', 'authorization', 'Bearer the-key'],
  openrouter: ['/chat/completions', 'authorization', 'Bearer the-key'],
  together: ['/chat/completions', 'authorization', 'Bearer the-key'],
  fireworks: ['/chat/completions', 'authorization', 'Bearer the-key'],
  cerebras: ['/chat/completions', 'authorization', 'Bearer the-key'],
  ollama: ['/chat/completions', 'authorization', undefined],
  vllm: ['/chat/completions', 'authorization', undefined],
} as const;
type Kind = keyof typeof documented;
const kinds = Object.keys(documented) as Kind[];

const variables = new Map<string, string>([
  ['AWS_REGION', 'eu-west-1'],
  ['AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE'],
  ['AWS_SECRET_ACCESS_KEY', 'secret'],
  ...kinds.flatMap((kind): [string, string][] => {
    const { auth } = providerKinds[kind];
    return auth !== undefined && 'env' in auth ? [[auth.env, 'the-key']] : [];
  }),
]);

describe('a provider that says its kind alone', () => {
  let harness: Harness;
  const former = new Map([...variables.keys()].map((name) => [name, process.env[name]]));
  beforeAll(async () => {
    for (const [name, value] of variables) process.env[name] = value;
    harness = await startHarness({
      // Only the address is another one than its own.
      providers: Object.fromEntries(kinds.map((kind) => [kind, { kind, auth: undefined }])),
      models: Object.fromEntries(kinds.map((kind) => [`m-${kind}`, [{ provider: kind, upstream: 'echo' }]])),
    });
  });
  afterAll(async () => {
    for (const [name, value] of former) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    await harness.stop();
  });

  async function received(kind: Kind, more: Record<string, unknown> = {}) {
    harness.simulator.clear();
    const answer = await harness.post(hello(`m-${kind}`, more));
    expect(answer.status).toBe(200);
    await answer.text();
    return harness.simulator.calls[0];
  }

  it.each(kinds)('%s is called at its path, with its key in its header', async (kind) => {
    const [path, header, value] = documented[kind];
    const call = await received(kind);
    expect(call?.path.endsWith(path)).toBe(true);
    expect(call?.headers[header]).toEqual(value);
    if (kind === 'anthropic') expect(call?.headers['anthropic-version']).toBe('2023-06-01');
    if (header !== 'authorization') expect(call?.headers).not.toHaveProperty('authorization');
  });

  it('is told what it knows: no stream_options at mistral, reasoning as it is at openrouter', async () => {
    expect((await received('mistral', { stream: true }))?.body).not.toHaveProperty('stream_options');
    expect((await received('openai', { stream: true }))?.body).toMatchObject({
      stream_options: { include_usage: true },
    });
    const reasoning = { effort: 'low' };
    expect((await received('openrouter', { reasoning }))?.body).toMatchObject({ reasoning });
    expect((await received('openai', { reasoning }))?.body).toMatchObject({ reasoning_effort: 'low' });
  });
});
