// A file with every field, and functions that spoil one place in it.
import type { CatalogueDocument } from '../../../shared/configuration/catalogue/index.ts';
import { completeCatalogue } from '../../../shared/configuration/gateway-file/complete-catalogue.ts';
import { type GatewayFile, type Problem, readGatewayFile } from '../../../shared/configuration/gateway-file/index.ts';
import { createApiKey } from '../../../shared/configuration/keys/index.ts';
import { openModelList } from '../../../shared/configuration/model-list/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';

export const exampleKey = createApiKey(systemRandomness);

export const exampleText = `
service:
  function_execution: enabled
  function_concurrency: 200
  queue_ms: 2000
providers:
  - id: acme
    display_name: Acme AI
    base_url: https://api.acme.example/v1
    auth: { bearer: { env: ACME_API_KEY } }
    accepts_byok_header: true
    data_policy: { zdr: true, data_collection: deny, data_residency: [eu] }
    first_chunk_timeout_ms: 20000
    reasoning_style: effort
models:
  - id: acme/large-1
    display_name: Large 1
    created: 1760000000
    context_length: 128000
    modalities: [text, image]
    auto: true
    providers:
      - provider: acme
        upstream_model: large-1-2026
        input_price_per_million: "2.50"
        output_price_per_million: "10.00"
        cached_input_price_per_million: "1.25"
        cache_write_input_price_per_million: "3.125"
        cache_write_1h_input_price_per_million: "5.00"
        context_length: 128000
        max_output_tokens: 16384
        supported_params: { tools: true, vision: true, json_mode: true, json_schema: true }
        streaming: true
        rate_limit_rpm: 600
  - id: acme/small-1
    display_name: Small 1
    created: 1760000000
    context_length: 8000
    modalities: [text]
    providers: []
workspaces:
  - id: team-a
    credit_usd: "25.00"
    spend_limit_usd: null
    models: all
    data_policy: {}
    function_concurrency: 20
    features: { byok: false, presets: true }
    keys:
      - { name: ci, key: ${exampleKey}, rpm: 60, spend_limit_usd: "5.00", status: active }
    presets:
      - { slug: terse, versions: [ { version: "1", config: { temperature: 0 } } ], designated: "1" }
    byok:
      connections: [ { provider: acme, key: { env: ACME_BYOK }, policy: always, budget_usd: "10.00" } ]
    functions:
      - id: classify-ticket
        kind: prompt
        status: enabled
        active: r2
        revisions:
          - id: r2
            state: activated
            expires_at: 2027-01-01T00:00:00Z
            model: acme/large-1
            fallback_models: [acme/small-1]
            messages: [ { role: system, content: "You label support tickets." }, { role: user, content: "{{input.ticket}}" } ]
            options: { temperature: 0, max_tokens: 64 }
            response_format: { type: json_schema, json_schema: { name: label, schema: { type: object } } }
            input: { type: object, schema: { type: object, required: [ticket] } }
`;

/** Returns the example with one text replaced. Throws if the text is not in it, so that every test checks something. */
export function spoiled(fragment: string, instead: string, text = exampleText): string {
  if (!text.includes(fragment)) throw new Error(`the example does not hold ${fragment}`);
  return text.replace(fragment, () => instead);
}

export function fileOf(text: string): GatewayFile {
  const result = readGatewayFile(text);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.file;
}

export function problemsOf(text: string): Problem[] {
  const result = readGatewayFile(text);
  return result.ok ? [] : [...result.problems];
}

export const pathsOf = (text: string): string[] => problemsOf(text).map(({ path }) => path);

/** Returns the catalogue of this file with an empty store and an empty model list. */
export const catalogueIn = (text: string): CatalogueDocument =>
  completeCatalogue(fileOf(text), {
    former: undefined,
    list: openModelList({ date: '2026-11-23', source: '', licence: 'MIT', columns: [], models: [] }),
    region: undefined,
    nowMs: 1_800_000_000_000,
  }).document;
