// The sections service, providers and models: what becomes the stored catalogue. Providers and models are described
// whole, so their defaults are filled in here; of the service, and of the status of a provider, what is left out stays as it
// is stored.
import * as z from 'zod';
import { autoModelId, extraNames, reservedModelPrefix } from '../../foundation/constants/index.ts';
import { parsePricePerMillion } from '../../foundation/money/index.ts';
import type { CatalogueDocument, ModelDocument, ServiceDocument } from '../catalogue/index.ts';
import { epochSeconds, limit, mapping, positiveInteger, providerId, quotedDecimal, text, waitMs } from './fields.ts';
import { provider } from './provider-schema.ts';

const price = quotedDecimal.refine((written) => parsePricePerMillion(written) !== undefined, {
  error: 'must be USD per million tokens with at most six decimals, such as "2.50"',
});

const supportedParams = mapping('models[].providers[].supported_params', {
  tools: z.boolean().default(false),
  vision: z.boolean().default(false),
  json_mode: z.boolean().default(false),
  json_schema: z.boolean().default(false),
  extras: z.array(z.enum(extraNames)).optional(),
});

const modelProvider = mapping('models[].providers[]', {
  provider: providerId,
  upstream_model: text(256).optional(),
  input_price_per_million: price.nullable(),
  output_price_per_million: price.nullable(),
  cached_input_price_per_million: price.optional(),
  cache_write_input_price_per_million: price.optional(),
  cache_write_1h_input_price_per_million: price.optional(),
  context_length: positiveInteger.optional(),
  max_output_tokens: positiveInteger.optional(),
  supported_params: supportedParams.prefault({}),
  streaming: z.boolean().default(true),
  rate_limit_rpm: limit.default(null),
  rate_limit_tpm: limit.default(null),
  rate_limit_tpd: limit.default(null),
});

const modelId = z
  .string()
  .regex(/^[A-Za-z0-9._:/@-]{1,128}$/, { error: 'must be 1 to 128 letters, digits or . _ : / @ -' })
  .refine((id) => id !== autoModelId, { error: `must not be ${autoModelId}: that model is always there` })
  .refine((id) => !id.startsWith(reservedModelPrefix), {
    error: `must not begin with ${reservedModelPrefix}: such ids are function aliases`,
  });

const writtenModel = mapping('models[]', {
  id: modelId,
  display_name: text(128).optional(),
  created: epochSeconds.optional(),
  context_length: positiveInteger.optional(),
  modalities: z
    .array(z.enum(['text', 'image', 'audio', 'video', 'file']))
    .min(1, { error: 'must name one, such as text' })
    .optional(),
  auto: z.boolean().default(false),
  providers: z.array(modelProvider),
});

/** `created` is filled in when the file is applied: a model that is stored keeps its own. */
export type ModelInFile = Omit<ModelDocument, 'created'> & { created?: number | undefined };

const model = writtenModel.transform((written, context): ModelInFile => {
  const lengths = written.providers.flatMap(({ context_length }) => context_length ?? []);
  const longest = lengths.length === 0 ? undefined : Math.max(...lengths);
  const context_length = written.context_length ?? longest;
  if (context_length === undefined) {
    const message = 'is required, here or in an entry of providers';
    context.addIssue({ code: 'custom', path: ['context_length'], message });
    return z.NEVER;
  }
  const hasVision = written.providers.some(({ supported_params }) => supported_params.vision);
  return {
    ...written,
    display_name: written.display_name ?? written.id,
    context_length,
    modalities: written.modalities ?? (hasVision ? ['text', 'image'] : ['text']),
    providers: written.providers.map((entry) => ({
      ...entry,
      upstream_model: entry.upstream_model ?? upstreamModel(written.id, entry.provider),
      context_length: entry.context_length ?? context_length,
      max_output_tokens: entry.max_output_tokens ?? entry.context_length ?? context_length,
    })),
  };
});

/** `acme/large-1` at acme is `large-1`; at any other provider it keeps its name. */
const upstreamModel = (modelId: string, provider: string): string =>
  modelId.startsWith(`${provider}/`) ? modelId.slice(provider.length + 1) : modelId;

const service = mapping('service', {
  function_execution: z.enum(['enabled', 'disabled']).optional(),
  function_concurrency: limit.optional(),
  concurrency: limit.optional(),
  key_concurrency: limit.optional(),
  queue_ms: waitMs.optional(),
});

const serviceDefaults: ServiceDocument = {
  function_execution: 'enabled',
  function_concurrency: 200,
  queue_ms: 2_000,
};

/** Providers and models must be written, if only as empty lists: a file without them would empty the catalogue. */
export const catalogueSections = {
  service: service.prefault({}),
  providers: z.array(provider),
  models: z.array(model),
};

type CatalogueInFile = { readonly [Name in keyof typeof catalogueSections]: z.infer<(typeof catalogueSections)[Name]> };

/** The catalogue that a file makes of the stored one. */
export function catalogueOf(
  { service: written, providers, models }: CatalogueInFile,
  former: CatalogueDocument | undefined,
  nowMs: number,
): CatalogueDocument {
  const createdById = new Map(former?.models.map(({ id, created }) => [id, created]));
  const statusById = new Map(former?.providers.map(({ id, status }) => [id, status]));
  const stored = former?.service ?? serviceDefaults;
  const {
    function_execution = stored.function_execution,
    function_concurrency = stored.function_concurrency,
    concurrency = stored.concurrency,
    key_concurrency = stored.key_concurrency,
    queue_ms = stored.queue_ms,
  } = written;
  return {
    service: {
      function_execution,
      function_concurrency,
      queue_ms,
      // A catalogue that was stored without them is not changed by a file that leaves them out.
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(key_concurrency === undefined ? {} : { key_concurrency }),
    },
    providers: providers.map((provider) => ({
      ...provider,
      status: provider.status ?? statusById.get(provider.id) ?? 'enabled',
    })),
    models: models.map(({ created, ...described }) => ({
      ...described,
      created: created ?? createdById.get(described.id) ?? Math.floor(nowMs / 1000),
    })),
  };
}
