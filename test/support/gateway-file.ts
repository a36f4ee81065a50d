// A small valid gateway file, which a test may change.
import { stringify } from 'yaml';
import type { Composition } from '../../shared/composition/index.ts';
import { applyGatewayFile, readGatewayFile } from '../../shared/configuration/gateway-file/index.ts';
import { createApiKey } from '../../shared/configuration/keys/index.ts';
import { readVariable as readProcessVariable } from '../../shared/foundation/environment/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';

type Json = Record<string, unknown>;

/** One provider of a model: `upstream` is the behaviour of the simulator. */
export interface Route {
  readonly provider: string;
  readonly upstream: string;
  readonly more?: Json;
}

/** Returns a stored function with one revision, which is active. */
export const promptFunction = (id: string, model: string, revision: Json = {}): Json => ({
  id,
  kind: 'prompt',
  active: 'r1',
  revisions: [{ id: 'r1', state: 'activated', model, messages: [{ role: 'user', content: '{{input}}' }], ...revision }],
});

export interface FileParts {
  /** Model id → its providers in catalogue order. */
  readonly models: Record<string, readonly Route[]>;
  /** Fields of a provider entry, by provider id. */
  readonly providers?: Record<string, Json>;
  /** Formats of each provider that names none itself. */
  readonly apis?: readonly string[] | undefined;
  /** Fields of a model, by model id. */
  readonly modelMembers?: Record<string, Json>;
  readonly workspace?: Json;
  /** Fields of the first key. */
  readonly key?: Json;
  readonly service?: Json;
  readonly moreWorkspaces?: readonly Json[];
  readonly access?: readonly Json[];
  readonly guardrails?: readonly Json[];
}

export const newKey = (): string => createApiKey(systemRandomness);

const everything = { tools: true, vision: true, json_mode: true, json_schema: true };

/** Returns the text. `urlOf` returns the base URL of a provider. The first key of workspace `team` is `key`. */
export function gatewayFileText(parts: FileParts, urlOf: (provider: string) => string, key: string): string {
  return stringify(fileOf(parts, urlOf, key), { aliasDuplicateObjects: false });
}

function fileOf(parts: FileParts, urlOf: (provider: string) => string, key: string): Json {
  const providerIds = new Set(Object.values(parts.models).flatMap((routes) => routes.map(({ provider }) => provider)));
  for (const id of Object.keys(parts.providers ?? {})) providerIds.add(id);
  return {
    ...(parts.service === undefined ? {} : { service: parts.service }),
    providers: [...providerIds].map((id) => ({
      id,
      display_name: `Provider ${id}`,
      base_url: urlOf(id),
      auth: 'none',
      ...(parts.apis === undefined ? {} : { apis: [...parts.apis] }),
      ...parts.providers?.[id],
    })),
    models: Object.entries(parts.models).map(([id, routes]) => ({
      id,
      display_name: `Model ${id}`,
      created: 1_760_000_000,
      context_length: 128_000,
      modalities: ['text', 'image'],
      providers: routes.map(toModelProvider),
      ...parts.modelMembers?.[id],
    })),
    workspaces: [
      { id: 'team', credit_usd: '100', keys: [{ name: 'first', key, ...parts.key }], ...parts.workspace },
      ...(parts.moreWorkspaces ?? []),
    ],
    ...(parts.access === undefined ? {} : { access: parts.access }),
    ...(parts.guardrails === undefined ? {} : { guardrails: parts.guardrails }),
  };
}

const toModelProvider = ({ provider, upstream, more }: Route): Json => ({
  provider,
  upstream_model: upstream,
  input_price_per_million: '1.00',
  output_price_per_million: '2.00',
  context_length: 128_000,
  max_output_tokens: 4_096,
  supported_params: everything,
  ...more,
});

/** Applies a gateway file as the operator does. */
export async function applyGatewayText(
  composition: Composition,
  text: string,
  readVariable: (name: string) => string | undefined = readProcessVariable,
): Promise<void> {
  const result = readGatewayFile(text);
  if (!result.ok) throw new Error(`the gateway file of the test is not valid: ${JSON.stringify(result.problems)}`);
  const { randomness, clock } = composition;
  await applyGatewayFile({ file: result.file, stores: composition, readVariable, randomness, nowMs: clock.nowMs() });
}
