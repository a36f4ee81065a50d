// The gateway of the bench: one provider, one workspace, one key with every limit and one with none. Limits are far above
// the load, so that they are counted and never reached.
import { stringify } from 'yaml';
import { createApiKey } from '../../shared/configuration/keys/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';

export const models = {
  /** Its provider has limits that one item counts: 500 calls a second. */
  limited: 'bench/limited',
  /** Limits beyond that, counted in several items. */
  busy: 'bench/busy',
  unlimited: 'bench/unlimited',
  function: 'gw/function/label',
} as const;

export interface BenchKeys {
  readonly limited: string;
  readonly unlimited: string;
}

export const newKeys = (): BenchKeys => ({
  limited: createApiKey(systemRandomness),
  unlimited: createApiKey(systemRandomness),
});

/** 10,000 a second, more than one machine makes. */
const perMinute = 600_000;
const busyLimits = { rate_limit_rpm: perMinute, rate_limit_tpm: perMinute * 20_000 };
const limits = { rate_limit_rpm: 30_000, rate_limit_tpm: 3_000_000 };

export const gatewayFileText = (upstreamUrl: string, keys: BenchKeys): string =>
  stringify(
    {
      service: { function_concurrency: 200 },
      providers: [{ id: 'fast', display_name: 'The provider of the bench', base_url: upstreamUrl, auth: 'none' }],
      models: [modelOf(models.limited, limits), modelOf(models.busy, busyLimits), modelOf(models.unlimited, {})],
      workspaces: [
        {
          id: 'bench',
          credit_usd: '1000000.00',
          spend_limit_usd: '1000000.00',
          keys: [
            { name: 'limited', key: keys.limited, rpm: perMinute, spend_limit_usd: '1000000.00' },
            { name: 'unlimited', key: keys.unlimited },
          ],
          functions: [labelFunction],
        },
      ],
    },
    { aliasDuplicateObjects: false },
  );

const modelOf = (id: string, providerLimits: Record<string, number>) => ({
  id,
  display_name: id,
  created: 1_760_000_000,
  context_length: 128_000,
  modalities: ['text'],
  providers: [
    {
      provider: 'fast',
      upstream_model: 'bench-upstream',
      input_price_per_million: '0.25',
      output_price_per_million: '1.00',
      context_length: 128_000,
      max_output_tokens: 4_096,
      supported_params: { tools: true, vision: false, json_mode: true, json_schema: true },
      ...providerLimits,
    },
  ],
});

const labelFunction = {
  id: 'label',
  kind: 'prompt',
  active: 'r1',
  revisions: [
    {
      id: 'r1',
      state: 'activated',
      model: models.unlimited,
      messages: [
        { role: 'system', content: 'You label support tickets.' },
        { role: 'user', content: '{{input}}' },
      ],
      options: { max_tokens: 64 },
      input: { type: 'text' },
    },
  ],
};
