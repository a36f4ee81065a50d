// A refusal names what is missing: the field as it was sent, the price, the policy, the provider, the key.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';

process.env.GW_TEST_STORED_KEY = 'sk-client-stored-key-4714';
const price = (prompt: string, completion: string) => ({
  input_price_per_million: prompt,
  output_price_per_million: completion,
});
const poorKey = newKey();

describe('a refusal', () => {
  let gateway: Harness;
  beforeAll(async () => {
    gateway = await startHarness({
      models: {
        'acme/large': [
          { provider: 'acme', upstream: 'echo', more: price('2.5', '10') },
          { provider: 'globex', upstream: 'echo', more: price('3', '12') },
        ],
        'acme/bounded': [{ provider: 'acme', upstream: 'echo', more: { default_output_tokens: 1_000 } }],
      },
      providers: { acme: { data_policy: { zdr: true } } },
      workspace: {
        data_policy: { data_residency: ['eu', 'us'] },
        features: { byok: true },
        byok: { connections: [{ provider: 'acme', key: { env: 'GW_TEST_STORED_KEY' } }] },
      },
      moreWorkspaces: [{ id: 'poor', credit_usd: '0', keys: [{ name: 'poor', key: poorKey }] }],
    });
  });
  afterAll(() => gateway.stop());

  const refusalText = async (body: object, status: number, code: string, headers = {}) => {
    gateway.simulator.clear();
    const { message } = await expectError(await gateway.post(body, headers), status, code);
    return String(message);
  };
  const poor = { authorization: `Bearer ${poorKey}` };

  it('says under which name a field was sent, if only the letter case is wrong', async () => {
    const message = await refusalText({ ...hello('acme/large'), Max_Tokens: 5 }, 400, 'invalid_request');
    expect(message).toBe('max_tokens: was sent as "Max_Tokens"; the letter case of a field counts.');
    expect(gateway.simulator.calls).toEqual([]);
  });

  it('says which policy no provider declares, and whose it is', async () => {
    const message = await refusalText(hello('acme/large'), 422, 'no_policy_compliant_provider');
    expect(message).toBe(
      'No provider satisfies the data policy: data_residency eu, us (of the workspace) is not declared by acme, globex.',
    );
    const body = hello('acme/large', { provider: { data_collection: 'deny' } });
    const narrowed = await refusalText(body, 422, 'no_policy_compliant_provider', poor);
    expect(narrowed).toBe(
      'No provider satisfies the data policy: data_collection deny (of the request) is not declared by acme, globex.',
    );
  });

  it('says which policy the workspace enforces if a request asks for less', async () => {
    const body = hello('acme/large', { provider: { data_residency: 'jp' } });
    const message = await refusalText(body, 422, 'data_policy_loosening_forbidden');
    expect(message).toBe('provider.data_residency: the workspace enforces data_residency eu, us.');
  });

  it('says what the cheapest provider costs that a price cap excludes', async () => {
    const body = hello('acme/large', { provider: { max_price: { prompt: 1, completion: 2 } } });
    const message = await refusalText(body, 402, 'price_cap_exceeded', poor);
    expect(message).toBe(
      'No provider is available under provider.max_price: acme, the cheapest, costs 2.5 USD for a million tokens of prompt and 10 USD for a million tokens of completion. It needs at least provider.max_price.prompt 2.5, provider.max_price.completion 10.',
    );
  });

  it('does not advise default_output_tokens if the model has it', async () => {
    const open = await refusalText(hello('acme/large'), 402, 'PAYMENT_REQUIRED', poor);
    expect(open).toContain('the operator can set default_output_tokens.');
    const bounded = await refusalText(hello('acme/bounded'), 402, 'PAYMENT_REQUIRED', poor);
    expect(bounded).toContain(
      'the price is reserved for 1000 tokens, the default_output_tokens that the operator has set.',
    );
    expect(bounded).not.toContain('can set');
  });
});

describe('a call at a provider that refuses a stored BYOK key', () => {
  it('says so if another provider fails otherwise', async () => {
    const gateway = await startHarness({
      models: {
        'acme/mixed': [
          { provider: 'acme', upstream: 'error-401' },
          { provider: 'globex', upstream: 'error-500', more: price('9', '9') },
        ],
      },
      workspace: {
        features: { byok: true },
        byok: { connections: [{ provider: 'acme', key: { env: 'GW_TEST_STORED_KEY' } }] },
      },
    });
    try {
      const answer = await gateway.post(hello('acme/mixed'));
      const { message } = await expectError(answer, 502, 'no_available_provider');
      expect(message).toMatch(
        /^All eligible providers failed; acme refused the BYOK key that the workspace has stored, or its account has no quota\. /,
      );
      expect(message).not.toContain("the gateway's own");
      expect(gateway.simulator.calls).toHaveLength(2);
    } finally {
      await gateway.stop();
    }
  });
});
