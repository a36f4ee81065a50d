// The sections service, providers and models: what becomes the stored catalogue.
import * as z from 'zod';
import {
  autoModelId,
  connectTimeoutDefaultMs,
  idleTimeoutDefaultMs,
  reservedModelPrefix,
} from '../../foundation/constants/index.ts';
import { parsePricePerMillion } from '../../foundation/money/index.ts';
import type { CatalogueDocument, DeclaredPolicy, ProviderAuth } from '../catalogue/index.ts';
import {
  chosenBy,
  epochSeconds,
  limit,
  mapping,
  positiveInteger,
  providerId,
  quotedDecimal,
  region,
  secretReference,
  text,
  timeoutMs,
  waitMs,
} from './fields.ts';

/** What is left out is unknown, and unknown satisfies no policy. An empty list would satisfy every one: refused. */
export const dataPolicy = mapping({
  zdr: z.boolean().optional(),
  data_collection: z.enum(['allow', 'deny']).optional(),
  data_residency: z.array(region).min(1, { error: 'must name a region, or be left out' }).optional(),
}) satisfies z.ZodType<DeclaredPolicy>;

const auth = chosenBy<ProviderAuth>((input) => {
  if (typeof input !== 'object' || input === null) return noAuth;
  return 'sigv4' in input ? signed : bearer;
});
const noAuth = z.literal('none', { error: 'must be none, { bearer: … } or { sigv4: … }' });
const bearer = mapping({ bearer: secretReference });
const signed = mapping({ sigv4: mapping({ service: text(64), region }) });

const completionsPath = '/chat/completions';

const baseUrl = text(2048).transform((written, context): string => {
  const trimmed = written.replace(/\/+$/, '');
  const message = faultOfBaseUrl(trimmed);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
  return trimmed;
});

function faultOfBaseUrl(written: string): string | undefined {
  if (/\s/.test(written) || !URL.canParse(written)) return 'must be a URL, such as https://api.acme.example/v1';
  const url = new URL(written);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https:// or http://';
  if (url.username !== '' || url.password !== '') return 'must not hold credentials: use auth';
  if (/[?#]/.test(written)) return 'must not have a query or a fragment';
  if (written.endsWith(completionsPath)) return `must end before ${completionsPath}: the gateway appends it`;
  return undefined;
}

const provider = mapping({
  id: providerId,
  display_name: text(128),
  base_url: baseUrl,
  auth: auth.prefault('none'),
  accepts_byok_header: z.boolean().default(false),
  data_policy: dataPolicy.default({}),
  // Left absent when it is not written: only a written one binds the first byte of JSON answers.
  first_chunk_timeout_ms: timeoutMs.optional(),
  idle_timeout_ms: timeoutMs.default(idleTimeoutDefaultMs),
  connect_timeout_ms: timeoutMs.default(connectTimeoutDefaultMs),
  reasoning_style: z.enum(['effort', 'object', 'none']).default('effort'),
  stream_usage: z.boolean().optional(),
  reasoning_tokens: z.enum(['included', 'additive']).default('included'),
});

const price = quotedDecimal.refine((written) => parsePricePerMillion(written) !== undefined, {
  error: 'must be USD per million tokens with at most six decimals, such as "2.50"',
});

const supportedParams = mapping({
  tools: z.boolean().default(false),
  vision: z.boolean().default(false),
  json_mode: z.boolean().default(false),
  json_schema: z.boolean().default(false),
});

const modelProvider = mapping({
  provider: providerId,
  upstream_model: text(256),
  input_price_per_million: price.nullable(),
  output_price_per_million: price.nullable(),
  cached_input_price_per_million: price.optional(),
  context_length: positiveInteger,
  max_output_tokens: positiveInteger,
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

const model = mapping({
  id: modelId,
  display_name: text(128),
  created: epochSeconds,
  context_length: positiveInteger,
  modalities: z.array(text(32)).min(1, { error: 'must name one, such as text' }),
  auto: z.boolean().default(false),
  providers: z.array(modelProvider),
});

const service = mapping({
  function_execution: z.enum(['enabled', 'disabled']).default('enabled'),
  function_concurrency: limit.default(200),
  queue_ms: waitMs.default(2_000),
});

/** Providers and models must be written, if only as empty lists: a file without them would empty the catalogue. */
export const catalogueSections = {
  service: service.prefault({}),
  providers: z.array(provider),
  models: z.array(model),
};

/** The compiler's word that what is read is what is stored. */
export const catalogueSchema = mapping(catalogueSections) satisfies z.ZodType<CatalogueDocument>;
