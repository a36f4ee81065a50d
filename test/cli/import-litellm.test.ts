// Files for LiteLLM in the shapes that public repositories have (November 2026), with other names and values: each of
// them becomes a gateway file that starts.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { describe, expect, it } from '#jest';
import { readConfigFile } from '../../infra/local/config-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { operate, type Result } from './operator.ts';

const folder = join(import.meta.dirname, 'litellm');

/** The names that clients use for a file's models, or the provider of a wildcard. */
const files: Readonly<Record<string, readonly string[]>> = {
  'one-key.yaml': ['story-writer'],
  'bedrock-names-with-blanks.yaml': ['Nova-Large', 'Claude-of-Bedrock'],
  'all-from-variables.yaml': [],
  'many-providers.yaml': [
    'gemini/gemini-2.5-flash',
    'mistral/mistral-small-latest',
    'groq/llama-3.3-70b-versatile',
    'cerebras/llama3.3-70b',
    'cohere/command-a',
    'openrouter/some-lab/model-8b:free',
  ],
  'fallback-chains.yaml': ['default', 'fast', 'steady', 'openai/gpt-4o'],
  'weights-and-limits.yaml': ['chat', 'small', 'gpt-4', 'gpt-3.5'],
  'vertex.yaml': ['planner', 'implementer', 'reviewer'],
  'local-servers.yaml': ['llama3.2', 'mind', 'bge-m3', 'own'],
  'wildcard.yaml': ['from openai', 'from anthropic'],
  'presidio.yaml': ['local'],
  'guardrails.yaml': ['gpt'],
  'budget-of-the-proxy.yaml': ['gpt'],
  'budget-of-keys.yaml': ['gpt'],
  'credentials.yaml': ['gpt-4o'],
  'literal-secrets.yaml': ['gpt', 'lab', 'keyless', 'fake'],
  'orders.yaml': ['chat'],
  'anchors.yaml': ['gpt-4o', 'gpt-4o-mini'],
  'tasks.yaml': ['embed', 'picture', 'ears', 'voice', 'order'],
  'default-fallbacks.yaml': ['one', 'two', 'three'],
  'entra.yaml': ['gpt', 'spaced-name'],
  'same-provider-twice.yaml': ['any'],
};

interface Entry {
  readonly provider: string;
  readonly upstream_model: string;
  readonly weight?: number;
}
interface GatewayFile {
  readonly service?: object;
  readonly providers: readonly { readonly id: string; readonly base_url?: string; readonly apis?: readonly string[] }[];
  readonly models: readonly { readonly id?: string; readonly from?: string; readonly providers: readonly Entry[] }[];
  readonly guardrails?: readonly object[];
  readonly workspaces: readonly [{ readonly guardrails?: readonly string[]; readonly keys: readonly object[] }];
}

const importFile = (path: string): Promise<Result> =>
  operate(['import', 'litellm', path], { variables: { OLLAMA_BASE: 'http://127.0.0.1:11434' } });

async function imported(name: string): Promise<GatewayFile & { readonly text: string }> {
  const { code, out } = await importFile(join(folder, name));
  expect(code).toBe(0);
  return { ...(parse(out) as GatewayFile), text: out };
}

const modelIn = ({ models }: GatewayFile, id: string) => models.find((model) => model.id === id)?.providers;

describe('gw import litellm', () => {
  it('is tried with twenty files', () => {
    expect(readdirSync(folder).toSorted()).toEqual(Object.keys(files).toSorted());
    expect(Object.keys(files).length).toBeGreaterThanOrEqual(20);
  });

  it.each(Object.entries(files))(
    'makes of %s a gateway file that starts, with the names that clients use',
    async (name, names) => {
      const { out, error } = await importFile(join(folder, name));
      const path = join(temporaryFolder(), 'gateway.yaml');
      writeFileSync(path, out);
      const applyResult = await operate(['apply', '-f', path, '--data', temporaryFolder(), '--yes']);
      expect([applyResult.code, applyResult.error]).toEqual([0, '']);
      const { models } = parse(out) as GatewayFile;
      expect(models.map(({ id, from }) => id ?? `from ${from}`)).toEqual(names);
      // Every comment names the line of the file that it is about.
      const source = readFileSync(join(folder, name), 'utf8').split('\n');
      const comments = out.split('\n').filter((line) => /^# line /.test(line));
      if (comments.length > 0) expect(error).toContain(`${comments.length} comments`);
      for (const comment of comments) {
        const [, line = '', place = ''] = /^# line (\d+): ([\w.[\]*/ -]+?):? /.exec(comment) ?? [];
        expect([comment, Number(line) >= 1 && Number(line) <= source.length, place !== '']).toEqual([
          comment,
          true,
          true,
        ]);
      }
      // The output contains no secret of the file.
      for (const secret of ['hunter2@', 'sk-not', 'sk-proj', 'abcdef-', 'secret-of']) expect(out).not.toContain(secret);
    },
  );

  it('takes fallbacks over as entries after those that have a weight, and names what is not as it was', async () => {
    const file = await imported('fallback-chains.yaml');
    const namesOf = (id: string) => modelIn(file, id)?.map(({ provider, weight }) => [provider, weight]);
    expect(namesOf('default')).toEqual([
      ['openrouter', 1],
      ['groq', undefined],
      ['together_ai', undefined],
    ]);
    expect(namesOf('fast')).toEqual([
      ['groq', 1],
      ['together_ai', undefined],
    ]);
    // The model has a fallback for longer contexts.
    expect(namesOf('steady')).toEqual([
      ['together_ai', 1],
      ['openai', undefined],
    ]);
    expect(namesOf('openai/gpt-4o')).toEqual([['openai', undefined]]);
    expect(file.text).toContain(
      '# line 13: router_settings.fallbacks: of fast no model of the file is called no-such-model',
    );
    expect(file.text).toContain(
      'no list knows the prices of some-lab/maverick: they are "0", so budgets are blind to it',
    );
    const others = await imported('default-fallbacks.yaml');
    expect(modelIn(others, 'one')?.map(({ provider }) => provider)).toEqual(['deepseek', 'moonshot']);
    expect(modelIn(others, 'three')?.map(({ provider }) => provider)).toEqual(['moonshot']);
    const orders = await imported('orders.yaml');
    expect(modelIn(orders, 'chat')).toMatchObject([{ provider: 'openai', weight: 1 }, { provider: 'anthropic' }]);
    expect(modelIn(orders, 'chat')?.[1]?.weight).toBeUndefined();
  });

  it('calls Claude on Vertex AI on Messages, below the address of every publisher there, and Gemini as usual', async () => {
    const { providers } = await imported('vertex.yaml');
    const address = expect.stringMatching(/\/publishers\/google$/);
    expect(providers.map(({ base_url, apis }) => [base_url, apis])).toEqual([
      [address, ['messages']],
      [address, undefined],
      [address, undefined],
    ]);
  });

  it('takes weights, limits of deployments and aliases over', async () => {
    const file = await imported('weights-and-limits.yaml');
    const chat = [
      { provider: 'azure', upstream_model: 'gpt-4o-eu', list_model: 'azure/gpt-4o', weight: 7, rate_limit_rpm: 60 },
      { provider: 'azure-2', upstream_model: 'gpt-4o-us', list_model: 'azure/gpt-4o', weight: 3, rate_limit_rpm: 30 },
    ];
    expect(modelIn(file, 'chat')).toMatchObject(chat);
    expect(modelIn(file, 'chat')).toMatchObject([{ rate_limit_tpm: 100_000 }, {}]);
    expect(modelIn(file, 'gpt-4')).toEqual(modelIn(file, 'chat'));
    expect(modelIn(file, 'gpt-3.5')).toMatchObject([{ weight: 70 }, { weight: 30 }]);
    expect(file.providers).toContainEqual({
      id: 'azure',
      kind: 'azure',
      base_url: 'https://eu.openai.azure.com/openai/v1',
      auth: { header: { name: 'api-key', env: 'AZURE_KEY_EU' } },
    });
    // Requests per minute become weights if no weight is written, and a provider occurs once in a model.
    const same = await imported('same-provider-twice.yaml');
    expect(modelIn(same, 'any')?.map(({ provider, weight }) => [provider, weight])).toEqual([
      ['openai', 500],
      ['openai-3', 1_000],
      ['openai-2', 50],
    ]);
  });

  it.each([
    [
      'budget-of-the-proxy.yaml',
      { spend_limit_usd: '100.00', spend_limit_reset: 'monthly' },
      'line 6: litellm_settings.budget_duration: 30d becomes a month',
    ],
    [
      'budget-of-keys.yaml',
      { spend_limit_usd: '2.50', spend_limit_reset: 'daily', rpm: 30, tpm: 50_000, models: ['gpt'] },
      'line 5: litellm_settings.default_key_generate_params.budget_duration: 24h becomes a day',
    ],
  ])(
    'takes the budget of %s over as the limit of a key, and says what its duration becomes',
    async (name, limits, words) => {
      const { workspaces, text, service } = await imported(name);
      expect(workspaces[0].keys).toEqual([{ name: 'litellm', ...limits }]);
      expect(text).toContain(`# ${words}`);
      expect(service).toEqual(name === 'budget-of-keys.yaml' ? { concurrency: 50 } : undefined);
      // The text names the budgets of a deployment and of a provider.
      if (service === undefined)
        expect(text).toMatch(/litellm_params\.max_budget: .*\n(.*\n)*.*provider_budget_config: /);
    },
  );

  it('takes budgets of users over for the keys that members make', async () => {
    const { workspaces, text } = await imported('local-servers.yaml');
    expect(workspaces[0]).toMatchObject({ member_keys: { spend_limit_usd: '10.00', spend_limit_reset: 'monthly' } });
    expect(text).toContain('general_settings.internal_user_budget_duration: 1mo becomes a month');
  });

  it('takes guardrails over that have a counterpart, and leaves the others out', async () => {
    const { guardrails, workspaces, text } = await imported('guardrails.yaml');
    expect(guardrails).toEqual([
      {
        id: 'bedrock-guard',
        kind: 'bedrock',
        guardrail: 'abc123def456',
        version: '1',
        region: 'eu-west-1',
        on: ['input'],
      },
      { id: 'keyword-filter', kind: 'words', words: ['drop table', 'hunter2'], action: 'block', on: ['input'] },
      {
        id: 'order-numbers',
        kind: 'patterns',
        patterns: [{ name: 'order', regex: 'ORD-[0-9]{8}' }],
        action: 'mask',
        on: ['output'],
      },
    ]);
    expect(workspaces[0].guardrails).toEqual(['bedrock-guard']);
    expect(text).toContain('guardrails[3]: classifier (my_guard.Classifier) is left out');
    const personal = await imported('presidio.yaml');
    expect(personal.guardrails).toMatchObject([
      { id: 'pii-guard', kind: 'pii', action: 'mask', on: ['input'] },
      { id: 'cards', types: ['card', 'email'], action: 'block', on: ['input', 'output'] },
    ]);
    expect(personal.text).toContain('no counterpart for PERSON');
  });

  it('copies no secret, and reads addresses and names from the variables of the shell', async () => {
    const { text, providers } = await imported('literal-secrets.yaml');
    expect(text).toContain(
      'line 3: model_list[0].litellm_params.api_key: no key stands in a gateway file: put it into the variable OPENAI_API_KEY_1',
    );
    // No key goes to another provider's address: each key has its own variable.
    expect(providers).toEqual([
      { id: 'openai', kind: 'openai', auth: { bearer: { env: 'OPENAI_API_KEY_1' } } },
      {
        id: 'openai-2',
        base_url: 'https://lab.example',
        apis: ['chat-completions'],
        auth: { bearer: { env: 'OPENAI_API_KEY_2' } },
      },
      {
        id: 'openai-3',
        base_url: 'https://keyless.example',
        apis: ['chat-completions'],
        auth: { bearer: { env: 'OPENAI_API_KEY' } },
      },
      { id: 'openai-4', base_url: 'https://fake.example', apis: ['chat-completions'] },
    ]);
    expect(text).toContain('api_base: names no key: that of OPENAI_API_KEY goes there, as with LiteLLM');
    const variables = { PUBLIC_NAME: 'own', UPSTREAM_NAME: 'openai/lab-7b', UPSTREAM_BASE: 'http://lab.example/v1' };
    const { out } = await operate(['import', 'litellm', join(folder, 'all-from-variables.yaml')], { variables });
    expect(parse(out)).toMatchObject({
      providers: [{ base_url: 'http://lab.example/v1', auth: { bearer: { env: 'UPSTREAM_KEY' } } }],
      models: [{ id: 'own', providers: [{ upstream_model: 'lab-7b' }] }],
    });
    const importResult = await operate(['import', 'litellm', join(folder, 'one-key.yaml'), '--json']);
    const { file, notes } = JSON.parse(importResult.out);
    expect(file).toContain('story-writer');
    expect(notes.map(({ line }: { readonly line: number }) => line)).toEqual([7, 8]);
  });

  it('refuses what is no file of LiteLLM, in one line, and is named if one is started or applied', async () => {
    const path = join(temporaryFolder(), 'other.yaml');
    writeFileSync(path, 'providers: []\nmodels: []\n');
    expect(await importFile(path)).toMatchObject({
      code: 1,
      out: '',
      error: `gw import litellm: ${path} is no file of LiteLLM: it has no model_list`,
    });
    const missing = { code: 1, error: 'gw import litellm: cannot read /no/such/file' };
    expect(await importFile('/no/such/file')).toMatchObject(missing);
    expect((await operate('import litellm')).code).toBe(2);
    const litellm = join(folder, 'one-key.yaml');
    const advice =
      'belongs to a file of LiteLLM: `npm run gw -- import litellm FILE > gateway.yaml` makes a gateway file of it';
    await expect(readConfigFile(litellm)).rejects.toThrow(advice);
    const data = temporaryFolder();
    const applyResult = await operate(['apply', '-f', litellm, '--data', data]);
    expect([applyResult.code, `${applyResult.out}${applyResult.error}`.includes(advice)]).toEqual([1, true]);
    expect(readdirSync(data)).toEqual([]);
  });
});
