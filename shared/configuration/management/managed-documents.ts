// Defines the answers of the management interface. The description of the interface and the types of the console's page
// are generated from these schemas, and the code that builds the documents is checked against their types. Money is
// exact decimal text.
import * as z from 'zod/mini';
import type { operatorCallDocument } from '../../accounting/call-records/index.ts';
import { policySchema } from '../workspaces/index.ts';
import { accountDocuments } from './account-documents.ts';
import {
  allOrSome,
  count,
  countOrNull,
  decimal,
  flag,
  instant,
  instantOrNull,
  numberOrNull,
  text,
  textOrNull,
} from './document-forms.ts';

const figures = z.object({
  calls: count,
  failed: count.check(
    z.describe('By the gateway or its providers: 5xx, 429 that providers caused, streams that broke.'),
  ),
  refused: count.check(z.describe('Refused to their clients: any other error.')),
  cost_usd: decimal,
  byok_cost_usd: decimal.check(z.describe('The part of it that callers paid with their own provider keys.')),
  tokens: count,
  p50_ms: numberOrNull.check(z.describe('Of calls that a provider answered well. Null: there are none.')),
  p95_ms: numberOrNull,
});

const overviewDocument = z.object({
  since: instant,
  until: instant,
  interval: z.enum(['hour', 'day']),
  is_complete: flag.check(z.describe('False: there are more calls than one overview counts.')),
  counted_since: instant.check(z.describe('All calls from here on are counted.')),
  totals: figures,
  series: z.array(z.extend(figures, { time: instant })),
  by_model: z.array(z.extend(figures, { model: textOrNull })),
  by_provider: z.array(z.extend(figures, { provider: textOrNull, attempts: count, failed_attempts: count })),
  by_workspace: z.array(z.extend(figures, { workspace: text })),
  by_key: z.array(z.extend(figures, { key: text, name: textOrNull, workspace: text })),
  tag_names: z.array(text).check(z.describe('Names of the tags of these calls, which `tag` takes.')),
  by_tag: z
    .optional(z.array(z.extend(figures, { value: textOrNull })))
    .check(z.describe('Only with `tag`: the dearest values. Null: the calls without it.')),
  other_tags: z.optional(figures).check(z.describe('All values that `by_tag` does not name, as one.')),
});

/** Health of one model at one provider. */
const health = z.object({
  state: text,
  reason: textOrNull.check(z.describe('Why it is not reached, in one word, where it fails for that.')),
  is_cooling: flag,
  cooling_for: allOrSome.check(z.describe('All, or some workspaces. Empty: it does not cool.')),
  median_latency_ms: numberOrNull,
  throughput_rpm: numberOrNull,
  uptime: numberOrNull,
});
const limitUse = z.nullable(z.object({ limit: count, used: count }));
const credential = z.optional(count).check(z.describe('Its position, from 1. Absent: the provider has one.'));
const limits = z.object({ rpm: limitUse, tpm: limitUse, tpd: limitUse });

const providerDocument = z.object({
  id: text,
  display_name: text,
  status: z.enum(['enabled', 'disabled']),
  base_url: text,
  data_policy: policySchema,
  last_alert: z
    .nullable(
      z.object({
        state: z.enum(['refused', 'empty', 'failing', 'back']),
        model: text,
        at: instant,
        is_delivered: flag,
      }),
    )
    .check(z.describe('The last alert of its first credential. Null: there was none.')),
  models: z.array(z.extend(health, { model: text, credential, limits })).check(z.describe('Once per credential.')),
});

const prices = {
  cached_input_price_per_million: z.optional(text),
  cache_write_input_price_per_million: z.optional(text),
  cache_write_1h_input_price_per_million: z.optional(text),
  audio_input_price_per_million: z.optional(text),
  image_input_price_per_million: z.optional(text),
  audio_output_price_per_million: z.optional(text),
  image_output_price_per_million: z.optional(text),
};
const unitPrices = {
  output_price_per_image: z.optional(text),
  image_prices: z.optional(z.record(z.string(), text)),
  input_price_per_character: z.optional(text),
  input_price_per_second: z.optional(text),
  price_per_request: z.optional(text),
};
/** Difference between a model and the list, by fields of the gateway file. */
const listDifference = z.object({
  provider: textOrNull.check(z.describe('Null: a member of the model itself.')),
  member: text,
  stored: z.unknown(),
  listed: z.unknown(),
  written_in_file: flag.check(z.describe('The next apply of the file writes it again.')),
});
const written = z
  .optional(z.array(text))
  .check(
    z.describe('Members that the gateway file wrote itself: the others are of the model list. Absent: it wrote all.'),
  );

const modelDocument = z.object({
  id: text,
  display_name: text,
  created: count,
  context_length: count,
  modalities: z.array(text),
  auto: flag,
  prompt_cache: z.optional(text),
  written,
  providers: z.array(
    z.extend(z.partial(health), {
      provider: text,
      upstream_model: text,
      list_model: z.optional(text),
      input_price_per_million: textOrNull,
      output_price_per_million: textOrNull,
      ...prices,
      ...unitPrices,
      price_tiers: z.optional(
        z.array(
          z.object({
            above_prompt_tokens: count,
            input_price_per_million: text,
            output_price_per_million: text,
            ...prices,
          }),
        ),
      ),
      context_length: count,
      max_output_tokens: count,
      default_output_tokens: z.optional(count),
      weight: z.optional(count),
      prompt_cache: z.optional(text),
      apis: z.array(text).check(z.describe('The interfaces that it speaks there.')),
      supported_params: z.object({
        tools: flag,
        vision: flag,
        json_mode: flag,
        json_schema: flag,
        tools_in_streams: z.optional(flag),
        extras: z.optional(z.array(text)),
      }),
      streaming: flag,
      rate_limit_rpm: countOrNull,
      rate_limit_tpm: countOrNull,
      rate_limit_tpd: countOrNull,
      written,
    }),
  ),
  differences: z
    .array(listDifference)
    .check(z.describe('Where the model list of this release differs from what is stored.')),
});

const listUpdateDocument = z.object({
  list_date: text,
  models: z.array(text).check(z.describe('Those that were changed.')),
  differences: z.array(z.extend(listDifference, { model: text })).check(z.describe('What was taken over.')),
});

const revisionDocument = z.object({
  id: text,
  state: z.enum(['draft', 'activated', 'expired']),
  has_cases: flag,
  qualified_at: instantOrNull,
  activated_at: instantOrNull,
  expires_at: instantOrNull,
});
const functionDocument = z.object({
  workspace: text,
  id: text,
  kind: z.enum(['prompt', 'workflow']),
  status: z.enum(['enabled', 'disabled']),
  active: textOrNull.check(z.describe('The revision that serves.')),
  revisions: z.array(revisionDocument),
});

const shownFunctionDocument = z.extend(functionDocument, {
  revisions: z.array(
    z.extend(revisionDocument, {
      content: z.record(z.string(), z.unknown()).check(z.describe('As in the gateway file.')),
      text: text.check(z.describe('Its content and its kind as the gateway file writes them (YAML).')),
    }),
  ),
});

const casesDocument = z.object({
  revision: text,
  is_qualified: flag.check(z.describe('All cases passed.')),
  cases: z.array(
    z.object({
      number: count,
      state: z
        .enum(['running', 'passed', 'failed'])
        .check(z.describe('`running`: answers of its `calls` are missing.')),
      problem: textOrNull,
      answer: textOrNull,
      calls: z.array(z.object({ call: text, body: z.record(z.string(), z.unknown()), fallback_models: z.array(text) })),
    }),
  ),
});

const switchDocument = z.object({
  id: text,
  status: z.enum(['enabled', 'disabled']),
  models_without_provider: z.array(text),
});

const replacementDocument = z.object({
  changes: z.array(
    z.object({
      resource: text.check(z.describe('`catalogue`, `workspace team-a`, `key ci of team-a`.')),
      change: z.enum(['created', 'changed', 'unchanged', 'removed']),
      members: z
        .array(z.object({ path: text, from: z.optional(z.unknown()), to: z.optional(z.unknown()) }))
        .check(z.describe('What differs, where something is changed.')),
    }),
  ),
  filled: z
    .array(
      z.object({
        place: text.check(z.describe('`models[openai/gpt-5.4].providers[openai]`.')),
        origin: text.check(z.describe('`kind openai`, `model list of 2026-11-23`.')),
        members: z.record(z.string(), z.unknown()),
      }),
    )
    .check(z.describe('What the file leaves out of providers and models, is not stored yet, and is filled in.')),
  takes_away: z.array(text).check(z.describe('What may be in use, and is not there any more afterwards.')),
  brings_back: z.array(text).check(z.describe('Revoked keys that are active afterwards.')),
  notes: z.array(text).check(z.describe('What the file asks for and does not happen, with the reason.')),
  created_keys: z
    .array(z.object({ workspace: text, name: text, key: text }))
    .check(z.describe('Keys that were made: their texts are in this answer only.')),
});

const contentDocument = z.object({
  id: text.check(z.describe('Of the call; of a replay, that of its first call.')),
  interface: text,
  stream: flag,
  cut: flag.check(z.describe('The end of a body is missing: 4 MiB of a call are kept.')),
  expires_at: instantOrNull.check(z.describe('When the bodies are deleted.')),
  request: text.check(z.describe('As the client sent it, without credentials.')),
  answer: z
    .nullable(z.object({ status: count, body: text.check(z.describe('JSON, or the text of an event stream.')) }))
    .check(z.describe('As the client got it. Null: it left before.')),
  sent: z
    .array(z.object({ provider: text, model: text, format: text, body: text }))
    .check(z.describe('What went to providers, where it is not what the client sent: translated calls, functions.')),
  blocked: z
    .nullable(text)
    .check(z.describe('The part of an answer that a guardrail blocked: JSON, or the data of events in lines.')),
});

/** Schemas by their names in the API description. The schema of a call is defined next to its record. */
export const documents = {
  ...accountDocuments,
  ManagedContent: contentDocument,
  ManagedReplacement: replacementDocument,
  ManagedSwitch: switchDocument,
  ManagedCases: casesDocument,
  ShownFunction: shownFunctionDocument,
  ManagedOverview: overviewDocument,
  ManagedProvider: providerDocument,
  ManagedModel: modelDocument,
  ManagedListUpdate: listUpdateDocument,
  ManagedFunction: functionDocument,
};
type Schemas = typeof documents;
export type Documents = { readonly [Name in keyof Schemas]: z.output<Schemas[Name]> } & {
  readonly ManagedCall: ReturnType<typeof operatorCallDocument>;
};
export type DocumentName = keyof Documents;
