// A gateway file takes models from the model list without naming each of them.
import { parse } from 'yaml';
import { afterAll, beforeAll, expect, it } from '#jest';
import { applyGatewayText } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { operatorOf } from '../support/operator-requests.ts';
import { completionOf, type ScriptedProvider, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';

let provider: ScriptedProvider;
let gateway: Harness;

beforeAll(async () => {
  provider = await startScriptedProvider((outgoing) => sendJson(outgoing, completionOf({ content: 'Good.' })));
  gateway = await startHarness({ models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] } });
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});

it('listed models are called by their own names if the file says as: "NAME", by the provider before them elsewhere, and exported so', async () => {
  const at = `base_url: "${provider.url}", auth: none`;
  const file = `
providers: [{ id: openai, kind: openai, ${at} }, { id: router, kind: openrouter, ${at} }]
models:
  - { from: openai, only: ["gpt-4.1*"], as: "NAME" }
  - { from: openai, only: [gpt-4o] }
  - { from: router, only: [openai/gpt-4o], as: "NAME" }
`;
  // The name with a prefix equals the name without it, because this provider has names with slashes.
  await expect(applyGatewayText(gateway.composition, file)).rejects.toThrow(
    'models[2]: makes openai/gpt-4o, which models[1] makes too',
  );
  const good = file.replace('openai/gpt-4o], as: "NAME"', 'openai/gpt-4o]');
  await applyGatewayText(gateway.composition, good);
  const ids = ((await (await gateway.get('/models')).json()) as { data: { id: string }[] }).data.map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining(['gpt-4.1', 'gpt-4.1-mini', 'openai/gpt-4o', 'router/openai/gpt-4o']));
  expect(ids).not.toContain('openai/gpt-4.1');
  const answers = await Promise.all(['gpt-4.1', 'openai/gpt-4.1'].map((model) => gateway.post(hello(model))));
  expect(answers.map(({ status }) => status)).toEqual([200, 400]);
  expect(provider.bodies.map((body) => JSON.parse(body).model)).toEqual(['gpt-4.1']);
  const { body } = await (await operatorOf(gateway, 'ada')).get('/configuration');
  expect(parse(body).models).toEqual(parse(good).models);
});
