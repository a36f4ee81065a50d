// What the management interface answers with, document by document.
import { callDocumentSchemas } from '../../../shared/accounting/call-records/index.ts';
import { arrayOf, count, decimal, flag, type JsonSchema, objectSchema, text } from './json-schema.ts';

const orNull = (type: string): JsonSchema => ({ type: [type, 'null'] });
const instant = { type: 'string', format: 'date-time' };
const instantOrNull = { type: ['string', 'null'], format: 'date-time' };
const amount = { type: 'string', pattern: '^-?\\d+(\\.\\d+)?$' };
const anyObject = { type: 'object' };
const models = { anyOf: [{ const: 'all' }, arrayOf(text)] };

const figures = {
  calls: count,
  failed: { ...count, description: 'Their clients got no whole answer.' },
  cost_usd: decimal,
  tokens: count,
  p50_ms: { ...orNull('number'), description: 'Of calls that a provider answered well. Null: there are none.' },
  p95_ms: orNull('number'),
};

const overview = objectSchema({
  since: instant,
  until: instant,
  interval: { enum: ['hour', 'day'] },
  is_complete: { ...flag, description: 'False: there are more calls than one overview counts.' },
  counted_since: { ...instant, description: 'All calls from here on are counted.' },
  totals: objectSchema(figures),
  series: arrayOf(objectSchema({ time: instant, ...figures })),
  by_model: arrayOf(objectSchema({ model: orNull('string'), ...figures })),
  by_provider: arrayOf(
    objectSchema({ provider: orNull('string'), ...figures, attempts: count, failed_attempts: count }),
  ),
  by_key: arrayOf(objectSchema({ key: text, name: orNull('string'), workspace: text, ...figures })),
});

const health = {
  state: text,
  is_cooling: flag,
  cooling_for: { anyOf: [{ const: 'all' }, arrayOf(text)], description: 'All, or some workspaces.' },
  median_latency_ms: orNull('number'),
  throughput_rpm: orNull('number'),
  uptime: orNull('number'),
};
const limitUse = { anyOf: [objectSchema({ limit: count, used: count }), { type: 'null' }] };

const provider = objectSchema({
  id: text,
  display_name: text,
  status: { enum: ['enabled', 'disabled'] },
  base_url: text,
  data_policy: anyObject,
  models: arrayOf(
    objectSchema({ model: text, ...health, limits: objectSchema({ rpm: limitUse, tpm: limitUse, tpd: limitUse }) }),
  ),
});

const model = objectSchema({
  id: text,
  display_name: text,
  context_length: count,
  providers: arrayOf(objectSchema({ provider: text, upstream_model: text, ...health })),
});

const key = {
  public_id: text,
  workspace: text,
  name: text,
  status: { enum: ['active', 'revoked'] },
  rpm: orNull('integer'),
  spend_limit_usd: orNull('string'),
  spend_limit_reset: orNull('string'),
  expires_at: instantOrNull,
  models,
  tags: anyObject,
  spent_usd: { ...orNull('string'), description: 'Null where nothing limits, and so counts, its spending.' },
  held_usd: orNull('string'),
  replaced_by: orNull('string'),
};

const workspace = objectSchema({
  id: text,
  granted_usd: amount,
  spent_usd: amount,
  held_usd: { ...amount, description: 'By calls that may still be running.' },
  available_usd: amount,
  spend_limit_usd: orNull('string'),
  models,
  data_policy: anyObject,
  function_concurrency: orNull('integer'),
  features: anyObject,
});

const revision = objectSchema({
  id: text,
  state: text,
  has_cases: flag,
  qualified_at: instantOrNull,
  activated_at: instantOrNull,
  expires_at: instantOrNull,
});

export const manageSchemas = (): Readonly<Record<string, JsonSchema>> => ({
  ManagedOverview: overview,
  ManagedCall: objectSchema(callDocumentSchemas()),
  ManagedProvider: provider,
  ManagedModel: model,
  ManagedKey: objectSchema(key),
  NewKey: objectSchema({ ...key, key: { ...text, description: 'Its text: in this answer only.' } }),
  ManagedWorkspace: workspace,
  ManagedCredit: objectSchema({ id: text, amount_usd: amount, change: { enum: ['added', 'unchanged'] }, workspace }),
  ManagedFunction: objectSchema({
    workspace: text,
    id: text,
    kind: text,
    status: { enum: ['enabled', 'disabled'] },
    active: orNull('string'),
    revisions: arrayOf(revision),
  }),
});
