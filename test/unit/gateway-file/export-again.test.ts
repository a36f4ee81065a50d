// Catalogues of files are applied, exported and applied again.
import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import type { CatalogueDocument } from '../../../shared/configuration/catalogue/index.ts';
import { completeCatalogue } from '../../../shared/configuration/gateway-file/complete-catalogue.ts';
import { catalogueInFile } from '../../../shared/configuration/gateway-file/export-gateway-file.ts';
import { yamlText } from '../../../shared/configuration/gateway-file/index.ts';
import { loadModelList, type ModelList } from '../../../shared/configuration/model-list/index.ts';
import '../../support/property-seed.ts';
import { fileOf } from './example-file.ts';

const list = await loadModelList();
interface Sections {
  readonly providers: readonly unknown[];
  readonly models: readonly unknown[];
}

function appliedDocument(file: Sections, former?: CatalogueDocument, other = list): CatalogueDocument {
  const sources = { former, list: other, region: undefined, nowMs: 1_800_000_000_000 };
  const { document, issues } = completeCatalogue(fileOf(yamlText(file)), sources);
  expect(issues).toEqual([]);
  return document;
}
const exportedAgain = (document: CatalogueDocument, other: ModelList | undefined = list) => {
  const { providers, models } = catalogueInFile(document, other) as unknown as Sections;
  return { providers, models };
};
/** Returns the value without undefined fields. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const some = <Value>(values: Record<string, fc.Arbitrary<Value>>) => fc.record(values, { requiredKeys: [] });
const price = fc.constantFrom('7', '0.333');
const providerMembers = some<unknown>({
  display_name: fc.constant('Another name'),
  status: fc.constant('disabled'),
  data_policy: fc.constant({ zdr: true }),
  headers: fc.constant({ 'x-acme-version': '2' }),
  idle_timeout_ms: fc.constant(14_000),
  drops: fc.constant({ members: ['metadata'] }),
  credentials: fc.constant([{ env: 'A' }, { secret: 'b' }]),
});
const entryMembers = some<unknown>({
  cached_input_price_per_million: price,
  max_output_tokens: fc.constant(1_000),
  default_output_tokens: fc.constant(900),
  rate_limit_rpm: fc.constant(7),
  weight: fc.constant(20),
});
const modelMembers = some<unknown>({
  display_name: fc.constant('Large'),
  auto: fc.constant(true),
  modalities: fc.constant(['text', 'audio']),
  prompt_cache: fc.constant('auto'),
});
const unlisted = fc
  .record({ entry: entryMembers, model: modelMembers, tools: fc.boolean() })
  .map(({ entry, model, tools }) => ({
    id: 'acme/large-1',
    created: 1_760_000_000,
    ...model,
    providers: [
      {
        provider: 'acme',
        input_price_per_million: '2.50',
        output_price_per_million: '10.00',
        context_length: 128_000,
        ...entry,
        ...(tools ? { supported_params: { tools } } : {}),
      },
    ],
  }));
const listedOffers = (id: string) =>
  fc.record({ entry: entryMembers, model: modelMembers }).map(({ entry, model }) => ({
    id,
    created: 1_760_000_000,
    ...model,
    providers: [{ provider: 'openai', ...entry }],
  }));
const items = fc.constantFrom<object[]>(
  [],
  [{ from: 'openai' }],
  [
    { from: 'openai', only: ['gpt-4.1*'], as: 'NAME' },
    { from: 'openai', only: ['gpt-4.1*', 'gpt-4o'] },
  ],
  [
    { from: 'openai', only: ['gpt-4.1*'] },
    { from: 'openai', only: ['text-embedding-3-*', 'gpt-4o'] },
  ],
);
const models = fc
  .tuple(
    items,
    fc
      .subarray([unlisted, listedOffers('openai/gpt-5'), listedOffers('openai/gpt-4.1-mini')] as fc.Arbitrary<object>[])
      .chain((chosen) => fc.tuple(...chosen)),
  )
  .chain(([takenItems, others]) =>
    fc.shuffledSubarray([...takenItems, ...others], { minLength: takenItems.length + others.length }),
  );
const file = fc.record({
  providers: fc.tuple(providerMembers, providerMembers).map(([one, other]) => [
    { id: 'openai', kind: 'openai', ...one },
    { id: 'acme', base_url: 'https://api.acme.example/v1', ...other },
    { id: 'bedrock', kind: 'bedrock', region: 'eu-west-1' },
  ]),
  models,
});

describe('an export of the catalogue', () => {
  it('is the file again: `{ from, only }` at its place, and without what the file left out', () => {
    fc.assert(
      fc.property(file, (value) => {
        const again = plain(exportedAgain(appliedDocument(value))) as Sections;
        const byText = (all: readonly unknown[]) => all.map((one) => yamlText(one)).sort();
        expect(again.providers).toEqual(value.providers);
        // A model of the file may come before or after a model of the list.
        expect(again.models.map(sorted)).toEqual(expect.arrayContaining(value.models.map(sorted)));
        expect(byText(again.models.map(sorted))).toEqual(byText(value.models.map(sorted)));
      }),
      { numRuns: 60 },
    );
  });

  it('changes nothing where it came from, short or whole, and makes the same elsewhere', () => {
    fc.assert(
      fc.property(file, (value) => {
        const storedCatalogue = appliedDocument(value);
        for (const again of [exportedAgain(storedCatalogue), exportedAgain(storedCatalogue, undefined)]) {
          const { models, providers } = appliedDocument(again, storedCatalogue);
          expect([models, providers]).toEqual([storedCatalogue.models, storedCatalogue.providers]);
        }
        expect(exportedAgain(appliedDocument(exportedAgain(storedCatalogue)))).toEqual(exportedAgain(storedCatalogue));
      }),
      { numRuns: 40 },
    );
  });

  it('keeps a model that the file names at the provider that it names, if an item of the list makes the same name', () => {
    const providers = [
      { id: 'openai', kind: 'openai' },
      { id: 'other', kind: 'openai' },
    ];
    for (const [item, id] of [
      [{ from: 'openai', only: ['gpt-4.1', 'gpt-4o'] }, 'openai/gpt-4.1'],
      [{ from: 'openai', only: ['gpt-4.1', 'gpt-4o'], as: 'NAME' }, 'gpt-4.1'],
    ] as const) {
      const storedCatalogue = appliedDocument({
        providers,
        models: [item, { id, providers: [{ provider: 'other' }] }],
      });
      const again = appliedDocument(exportedAgain(storedCatalogue));
      expect(providersOf(storedCatalogue)).toContainEqual([id, ['other']]);
      expect(providersOf(again)).toEqual(providersOf(storedCatalogue));
    }
  });

  it('can be applied again if the list has grown and two items would make one name', () => {
    const providers = [
      { id: 'openai', kind: 'openai' },
      { id: 'other', kind: 'openai' },
    ];
    const models = [
      { from: 'openai', only: ['gpt-4.1*', 'gpt-4o'], as: 'NAME' },
      { from: 'other', only: ['gpt-4o', 'o3'], as: 'NAME' },
    ];
    // Each case is that of a list without gpt-4o at one of the providers.
    for (const [index, only] of [
      [0, ['gpt-4.1*']],
      [1, ['o3']],
    ] as const) {
      const storedCatalogue = appliedDocument({
        providers,
        models: models.with(index, { ...models[index], only } as never),
      });
      const again = exportedAgain({ ...storedCatalogue, listed: models as never });
      expect(providersOf(appliedDocument(again))).toEqual(providersOf(storedCatalogue));
    }
  });

  it('writes what another list would fill in otherwise, and names the models if that list has more or fewer', () => {
    const storedCatalogue = appliedDocument({
      providers: [{ id: 'openai', kind: 'openai' }],
      models: [{ from: 'openai', only: ['gpt-4.1*'] }],
    });
    const dearer: ModelList = {
      ...list,
      find(kind, name, region) {
        const model = list.find(kind, name, region);
        return model && name === 'gpt-4.1' ? { ...model, prices: { ...model.prices, input: '99.00' } } : model;
      },
      offered: (kind, region) =>
        list.offered(kind, region).flatMap((one) => {
          if (one.name === 'gpt-4.1-mini-2025-04-14') return [];
          return one.name === 'gpt-4.1-mini' ? [one, { ...one, name: 'gpt-4.1-new' }] : [one];
        }),
      names: (kind) => [...list.names(kind), 'gpt-4.1-new'],
    };
    const withNew: ModelList = {
      ...dearer,
      find: (kind, name, region) => dearer.find(kind, name === 'gpt-4.1-new' ? 'gpt-4.1-mini' : name, region),
    };
    const again = exportedAgain(storedCatalogue, withNew);
    const listEntry = again.models.find((one) => 'from' in (one as object)) as { only: string[] };
    expect(listEntry.only).toContain('gpt-4.1-mini');
    expect(listEntry.only).not.toContain('gpt-4.1-new');
    expect(again.models).toContainEqual(
      expect.objectContaining({
        id: 'openai/gpt-4.1',
        providers: [{ provider: 'openai', input_price_per_million: '2.00' }],
      }),
    );
    expect(again.models).toContainEqual(expect.objectContaining({ id: 'openai/gpt-4.1-mini-2025-04-14' }));
    expect(appliedDocument(again, storedCatalogue, withNew).models).toEqual(storedCatalogue.models);
  });
});

const providersOf = ({ models }: CatalogueDocument) =>
  models.map((model) => [model.id, model.providers.map(({ provider }) => provider)]).sort();

/** Returns the value with its fields in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sorted(member)]));
}
