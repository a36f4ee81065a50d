// Defines the schemas of the sections `service`, `providers`, `models` and `guardrails` of the gateway file. Absent
// fields of providers and models are filled in from the store and from the model list when the file is applied
// (complete-catalogue.ts).
import * as z from 'zod';
import { autoModelId, extraNames, reservedModelPrefix } from '../../foundation/constants/index.ts';
import { parsePricePerMillion, parseUsd } from '../../foundation/money/index.ts';
import { promptCaches, type unitPriceMembers } from '../catalogue/index.ts';
import { listedModalities } from '../model-list/index.ts';
import { exactDecimal, limit, text } from '../value-forms/index.ts';
import {
  epochSeconds,
  mapping,
  positiveInteger,
  providerId,
  runsDespiteOtherIssues,
  secretReference,
  selectSchema,
  waitMs,
} from './fields.ts';
import { guardrail } from './guardrail-schema.ts';
import { apis, provider } from './provider-schema.ts';
import { isMapping } from './yaml-source.ts';

const price = exactDecimal.check(
  z.refine((usd) => parsePricePerMillion(usd) !== undefined, {
    error: 'must be USD per million tokens with at most six decimals, such as "2.50"',
  }),
);

const supportedParams = mapping('models[].providers[].supported_params', {
  tools: z.boolean().optional(),
  vision: z.boolean().optional(),
  json_mode: z.boolean().optional(),
  json_schema: z.boolean().optional(),
  tools_in_streams: z.boolean().optional(),
  extras: z.array(z.enum(extraNames)).optional(),
});

const furtherPrices = {
  cached_input_price_per_million: z.optional(price),
  cache_write_input_price_per_million: z.optional(price),
  cache_write_1h_input_price_per_million: z.optional(price),
  audio_input_price_per_million: z.optional(price),
  image_input_price_per_million: z.optional(price),
  audio_output_price_per_million: z.optional(price),
  image_output_price_per_million: z.optional(price),
};

const unitPrice = exactDecimal.check(
  z.refine((usd) => parseUsd(usd) !== undefined, {
    error: 'must be USD with at most twelve decimals, such as "0.04"',
  }),
);

const imagePriceKey = /^[A-Za-z0-9:._-]{1,32}(\/[A-Za-z0-9._-]{1,32})?$/;
const imagePrices = z
  .record(z.string(), unitPrice)
  .refine((prices) => Object.keys(prices).length <= 64, { error: 'must have at most 64 prices' })
  .superRefine((prices, context) => {
    for (const name of Object.keys(prices).filter((key) => !imagePriceKey.test(key))) {
      const message = 'must be SIZE/QUALITY, SIZE or default, such as 1024x1024/high';
      context.addIssue({ code: 'custom', path: [name], message });
    }
  }, runsDespiteOtherIssues);

const unitPrices = {
  output_price_per_image: z.optional(unitPrice),
  image_prices: imagePrices.optional(),
  input_price_per_character: z.optional(unitPrice),
  input_price_per_second: z.optional(unitPrice),
  price_per_request: z.optional(unitPrice),
} satisfies Record<(typeof unitPriceMembers)[number], unknown>;

const priceTiers = z
  .array(
    mapping('models[].providers[].price_tiers[]', {
      above_prompt_tokens: positiveInteger,
      input_price_per_million: price,
      output_price_per_million: price,
      ...furtherPrices,
    }),
  )
  .max(16, { error: 'must be at most 16 tiers' })
  .superRefine((tiers, context) => {
    for (const [index, tier] of tiers.entries()) {
      const [threshold, previous] = [tier?.above_prompt_tokens, tiers[index - 1]?.above_prompt_tokens ?? 0];
      // A tier without a valid threshold has an issue of its own.
      if (!(threshold <= previous)) continue;
      const message = `must be greater than above_prompt_tokens of the tier before it, ${previous}`;
      context.addIssue({ code: 'custom', path: [index, 'above_prompt_tokens'], message });
    }
  }, runsDespiteOtherIssues);

const promptCache = z.enum(promptCaches, { error: 'must be auto, off, or be left out' });

const weight = positiveInteger.max(1_000, { error: 'must be at most 1000' });

const modelProvider = mapping('models[].providers[]', {
  provider: providerId,
  upstream_model: z.optional(text(256)),
  list_model: z.optional(text(256)),
  apis: apis.optional(),
  input_price_per_million: z.optional(z.nullable(price)),
  output_price_per_million: z.optional(z.nullable(price)),
  ...furtherPrices,
  ...unitPrices,
  price_tiers: priceTiers.optional(),
  context_length: positiveInteger.optional(),
  max_output_tokens: positiveInteger.optional(),
  default_output_tokens: positiveInteger.optional(),
  prompt_cache: promptCache.optional(),
  weight: weight.optional(),
  supported_params: supportedParams.prefault({}),
  streaming: z.boolean().optional(),
  rate_limit_rpm: z._default(limit, null),
  rate_limit_tpm: z._default(limit, null),
  rate_limit_tpd: z._default(limit, null),
});

const modelId = z
  .string()
  .regex(/^[A-Za-z0-9._:/@-]{1,128}$/, { error: 'must be 1 to 128 letters, digits or . _ : / @ -' })
  .refine((id) => id !== autoModelId, {
    error: `must not be ${autoModelId}, because the gateway defines that model itself`,
  })
  .refine((id) => !id.startsWith(reservedModelPrefix), {
    error: `must not begin with ${reservedModelPrefix}: such ids are function aliases`,
  });

const explicitModel = mapping('models[]', {
  id: modelId,
  display_name: z.optional(text(128)),
  created: epochSeconds.optional(),
  context_length: positiveInteger.optional(),
  modalities: z.array(z.enum(listedModalities)).min(1, { error: 'must name a modality, such as text' }).optional(),
  auto: z.boolean().default(false),
  prompt_cache: promptCache.optional(),
  providers: z.array(modelProvider),
});

const pattern = text(128).check(
  z.regex(/^[A-Za-z0-9._:/@*-]+$/, {
    error: 'must be the name of a model, with * for any characters, such as gpt-5*',
  }),
);

/** Adds all models that the model list has for the provider's kind, or the models whose names match a pattern. */
const listedModels = mapping('models[]', {
  from: providerId,
  only: z.array(pattern).min(1, { error: 'must name a model, such as gpt-5*, or be left out' }).optional(),
  as: z
    .literal('NAME', {
      error: 'must be "NAME" for ids without the provider, or be left out for ids such as provider/name',
    })
    .optional(),
});

export type ModelInFile = z.infer<typeof explicitModel>;
export type EntryInFile = ModelInFile['providers'][number];
export type ListedModelsInFile = z.infer<typeof listedModels>;

export const isListedModels = (item: ModelInFile | ListedModelsInFile): item is ListedModelsInFile => 'from' in item;

const model = selectSchema<ModelInFile | ListedModelsInFile>((input) =>
  isMapping(input) && 'from' in input ? listedModels : explicitModel,
);

const share = positiveInteger.max(100, { error: 'must be a share in percent, 1 to 100' });

const alerts = mapping('service.alerts', {
  url: secretReference,
  at: z
    .array(share)
    .min(1, { error: 'must name a share in percent, such as 80' })
    .max(10, { error: 'must be at most 10 shares' })
    .superRefine((shares, context) => {
      for (const [index, percent] of shares.entries()) {
        if (index === 0 || !(percent <= (shares[index - 1] ?? 0))) continue;
        context.addIssue({ code: 'custom', path: [index], message: 'must be above the share before it' });
      }
    }, runsDespiteOtherIssues)
    .default([50, 80, 100]),
  secret: secretReference.optional(),
});

const service = mapping('service', {
  function_execution: z.enum(['enabled', 'disabled']).optional(),
  function_concurrency: z.optional(limit),
  concurrency: z.optional(limit),
  key_concurrency: z.optional(limit),
  queue_ms: waitMs.optional(),
  translation: z.enum(['enabled', 'disabled']).optional(),
  default_output_tokens: z.optional(limit),
  prompt_cache: promptCache.optional(),
  alerts: alerts.nullable().optional(),
});

const guardrailsMax = 64;

/**
 * Schemas of the sections. A file must have `providers` and `models`, if only as empty lists, because a file without
 * them would empty the catalogue.
 */
export const catalogueSections = {
  service: service.prefault({}),
  providers: z.array(provider),
  models: z.array(model),
  guardrails: z
    .array(guardrail)
    .max(guardrailsMax, { error: `must be at most ${guardrailsMax} guardrails` })
    .optional(),
};

export type CatalogueInFile = Readonly<z.infer<z.ZodObject<typeof catalogueSections>>>;
