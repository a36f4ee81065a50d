// Builds the gateway file of the bench: one provider, and workspaces that share nothing. Limits are counted but never
// reached.
import { createApiKey } from '../../../shared/configuration/keys/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { jsonBody } from '../measuring-client.ts';

export const models = {
  limited: 'bench/limited',
  unlimited: 'bench/open',
  seeing: 'bench/seeing',
  vectors: 'bench/vectors',
} as const;

/** Returns the call that most sections make. */
export const limitedCall = (key: string) => ({ key, body: jsonBody(models.limited) });

const newKey = () => createApiKey(systemRandomness);
/** Creates one or more keys for each workspace. A crowd is called once, so that its state disturbs no other section. */
export function newKeys() {
  const crowd = () => ({ oneKey: newKey(), fifty: Array.from({ length: 50 }, newKey), unlimited: newKey() });
  return {
    limited: newKey(),
    fresh: newKey(),
    scale: newKey(),
    unlimited: newKey(),
    crowds: [crowd(), crowd()],
  };
}
type BenchKeys = ReturnType<typeof newKeys>;

/**
 * Requests a minute. 500 a second are more than a run makes in a minute, and as many as one item of the store can
 * count.
 */
const rpm = 30_000;
const providerLimits = `rate_limit_rpm: ${rpm}, rate_limit_tpm: ${rpm * 20_000},`;
const enough = '"1000000.00"';

/** Writes a model in full, because former commits may require fields that are optional by now. */
const modelText = (id: string, limits = '', { provider = 'fast', vision = false } = {}) => `
  - id: ${id}
    display_name: ${id}
    created: 1760000000
    context_length: 128000
    modalities: [${vision ? 'text, image' : 'text'}]
    providers:
      - { provider: ${provider}, upstream_model: bench, input_price_per_million: "0.25", output_price_per_million: "1.00",
          context_length: 128000, max_output_tokens: 4096, ${limits}
          supported_params: { tools: true, vision: ${vision}, json_mode: true, json_schema: true } }`;

const workspaceText = (id: string, workspaceLimits: string, keyLimits: string, keys: readonly string[]) => `
  - { id: ${id}, credit_usd: ${enough}${workspaceLimits}, keys: [
        ${keys.map((key, at) => `{ name: ${id}-${at}, key: ${key}${keyLimits} }`).join(', ')} ] }`;
const limited = (id: string, ...keys: readonly string[]) =>
  workspaceText(id, `, spend_limit_usd: ${enough}`, `, rpm: ${rpm}, spend_limit_usd: ${enough}`, keys);
const unlimited = (id: string, key: string) => workspaceText(id, '', '', [key]);
const crowdText = ({ oneKey, fifty, unlimited: key }: BenchKeys['crowds'][number], at: number) =>
  limited(`one-key-${at}`, oneKey) + limited(`fifty-${at}`, ...fifty) + unlimited(`unlimited-${at}`, key);

export const gatewayFileText = (providerUrl: string, keys: BenchKeys): string => `
providers:
  - { id: fast, display_name: The provider of the bench, base_url: "${providerUrl}", auth: none }
  - { id: vectors, display_name: Its vectors, base_url: "${providerUrl}", auth: none, apis: [embeddings] }
models: ${modelText(models.limited, providerLimits)} ${modelText(models.unlimited)}
${modelText(models.seeing, '', { vision: true })} ${modelText(models.vectors, '', { provider: 'vectors' })}
workspaces: ${limited('limited', keys.limited)} ${limited('fresh', keys.fresh)} ${limited('scale', keys.scale)}
${unlimited('unlimited', keys.unlimited)}
${keys.crowds.map(crowdText).join('')}
`;
