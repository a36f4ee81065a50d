// Random catalogues, workspaces and requests over a few names, so that the names often match. Prices are multiples of a
// quarter, so the naive planner can count in floats and stays exact.
import fc from 'fast-check';
import type {
  CatalogueDocument,
  DeclaredPolicy,
  ModelDocument,
  ModelProviderDocument,
} from '../../../shared/configuration/catalogue/index.ts';
import type { PlanInput } from '../../../shared/routing/planner/index.ts';
import { entryOf, modelOf, providerOf } from '../../support/planning.ts';

type SpeedStats = NonNullable<ReturnType<PlanInput['statsOf']>>;

export interface Configuration {
  readonly document: CatalogueDocument;
  readonly workspace: { readonly models: 'all' | readonly string[]; readonly data_policy: DeclaredPolicy };
  /** Provider ids, as in the next two fields. */
  readonly configured: readonly string[];
  readonly cooling: readonly string[];
  readonly keys: { readonly connected: readonly string[]; readonly isRequired: boolean };
  /** Statistics by `model@provider`. */
  readonly stats: Readonly<Record<string, SpeedStats | undefined>>;
}

/** The fields of a request that planning reads. */
export interface PlannedBody {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly provider?: Preferences | undefined;
  readonly tools?: readonly unknown[] | undefined;
  readonly stream?: boolean | undefined;
  readonly response_format?: { readonly type: string; readonly json_schema: unknown };
}

export interface Preferences extends DeclaredPolicy {
  sort?: string | undefined;
  max_price?: number | { prompt?: number | undefined; completion?: number | undefined } | undefined;
  only?: string | readonly string[] | undefined;
  ignore?: readonly string[] | undefined;
  order?: readonly string[] | undefined;
  allow_fallbacks?: boolean | undefined;
}

const providerIds = ['a', 'b', 'c', 'd'] as const;
const modelIds = ['m', 'n', 'o'] as const;

/** Returns a boolean that is mostly true, so that plans are as common as errors. */
const mostly = (likely: number): fc.Arbitrary<boolean> => fc.integer({ min: 1, max: 10 }).map((roll) => roll <= likely);
const absentOr = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 2 });
/** Returns a preference that is mostly absent, because too many preferences remove all candidates. */
const rarely = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const regions = fc.uniqueArray(fc.constantFrom('eu', 'us', 'ch'), { minLength: 1 });

const declared: fc.Arbitrary<DeclaredPolicy> = fc.record({
  zdr: absentOr(mostly(8)),
  data_collection: absentOr(fc.constantFrom('deny', 'deny', 'deny', 'allow')),
  data_residency: absentOr(regions),
});

const enforced: fc.Arbitrary<DeclaredPolicy> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: declared },
);

const price = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 0, max: 12 }).map((quarters) => String(quarters / 4)) },
  { weight: 1, arbitrary: fc.constant(null) },
);

const entry = fc
  .record({
    provider: fc.constantFrom(...providerIds),
    input: price,
    output: price,
    supported_params: fc.record({
      tools: mostly(8),
      vision: mostly(8),
      json_mode: mostly(8),
      json_schema: mostly(5),
    }),
    streaming: mostly(9),
    context_length: fc.constantFrom(10, 100_000),
  })
  .map(
    ({ provider, input, output, ...more }): ModelProviderDocument =>
      entryOf(provider, { ...more, input_price_per_million: input, output_price_per_million: output }),
  );

const entries = fc.uniqueArray(entry, { maxLength: 4, selector: ({ provider }) => provider });

const model = (id: string): fc.Arbitrary<ModelDocument> =>
  fc
    .record({ auto: mostly(7), modalities: fc.constantFrom<string[]>(['text'], ['text', 'audio']), providers: entries })
    .map((members) => modelOf(id, members));

/** Returns a value that is mostly present, so that two measured and different values often meet. */
const mostlyThere = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 6 });
const speed: fc.Arbitrary<SpeedStats> = fc.record({
  medianLatencyMs: mostlyThere(fc.constantFrom(100, 200)),
  throughputRpm: fc.constantFrom(0, 1.5, 60),
});

const candidateNames = modelIds.flatMap((id) => providerIds.map((provider) => `${id}@${provider}`));

export const anyConfiguration: fc.Arbitrary<Configuration> = fc.record({
  document: fc
    .tuple(fc.tuple(...modelIds.map(model)), fc.tuple(...providerIds.map(() => declared)))
    .map(([models, policies]) => ({
      service: { function_execution: 'enabled' as const, function_concurrency: null, queue_ms: 0 },
      providers: providerIds.map((id, at) => providerOf(id, { data_policy: policies[at] ?? {} })),
      models,
    })),
  workspace: fc.record({
    models: fc.oneof(
      { weight: 4, arbitrary: fc.constant('all' as const) },
      { weight: 1, arbitrary: fc.subarray([...modelIds]) },
    ),
    data_policy: enforced,
  }),
  configured: fc.subarray([...providerIds], { minLength: 2 }),
  cooling: fc.subarray([...providerIds]),
  keys: fc.record({ connected: fc.subarray([...providerIds], { maxLength: 2 }), isRequired: mostly(2) }),
  stats: fc.record(Object.fromEntries(candidateNames.map((name) => [name, mostlyThere(speed)]))),
});

const someIds = fc.array(fc.constantFrom(...providerIds, 'nobody'), { maxLength: 4 });
const pins = fc.oneof(
  { weight: 4, arbitrary: fc.uniqueArray(fc.constantFrom(...providerIds), { minLength: 1 }) },
  { weight: 1, arbitrary: fc.constant('nobody') },
);
const cap = fc.integer({ min: 0, max: 14 }).map((quarters) => quarters / 4);

const preferences: fc.Arbitrary<Preferences> = fc.record({
  sort: absentOr(fc.constantFrom('price', 'latency', 'throughput')),
  max_price: rarely(fc.oneof(cap, fc.record({ prompt: absentOr(cap), completion: absentOr(cap) }))),
  only: rarely(pins),
  ignore: rarely(someIds),
  order: absentOr(someIds),
  allow_fallbacks: absentOr(fc.boolean()),
  zdr: rarely(mostly(7)),
  data_collection: rarely(fc.constantFrom('deny', 'deny', 'allow')),
  data_residency: rarely(regions),
});

const parts = fc.constantFrom('text', 'image_url', 'input_audio').map((type) => ({ type, text: 'Hello' }));

/** A request body in which every gateway field may be missing. */
export const anyBody: fc.Arbitrary<PlannedBody> = fc
  .record({
    model: fc.constantFrom(...modelIds, ...modelIds, 'auto', 'auto', 'unheard-of'),
    content: fc.oneof(fc.constantFrom('Hello', 'x'.repeat(100)), fc.array(parts, { maxLength: 2 })),
    provider: absentOr(preferences),
    tools: rarely(fc.constantFrom<object[]>([], [{ type: 'function' }])),
    stream: rarely(fc.boolean()),
    format: absentOr(fc.constantFrom('text', 'json_object', 'json_schema')),
  })
  .map(({ content, format, ...body }) => ({
    ...body,
    messages: [{ role: 'user', content }],
    ...(format === undefined ? {} : { response_format: { type: format, json_schema: { name: 'n', schema: {} } } }),
  }));
