// Lists the models with their prices by provider, recently called models first, and below them the providers, each with
// its health at its models.

import { useState } from 'preact/hooks';
import type { ViewAddress } from '../connection/address.ts';
import type { List, Model } from '../connection/documents.ts';
import { type LoadState, manage, useManagementRequest } from '../connection/management.ts';
import { useRights } from '../connection/session-rights.ts';
import { Button } from '../parts/button.tsx';
import { DescriptionList } from '../parts/description-list.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Search, searchOf } from '../parts/filters.tsx';
import { Link } from '../parts/link.tsx';
import { exactUsd } from '../parts/money.ts';
import { allRows, PagedTable } from '../parts/paged-table.tsx';
import { count, none } from '../parts/shown-values.ts';
import { Failure, Shown } from '../parts/states.tsx';
import { amountColumn, countColumn, Table, type TableColumn, textColumn } from '../parts/table.tsx';
import { useRequests } from '../parts/use-requests.ts';
import { ProviderTable } from './providers.tsx';

/** True if the model list supplied fields that the file omits. */
const isListed = ({ providers, differences }: Model): boolean =>
  differences.length > 0 || providers.some(({ written }) => written !== undefined);

const howToConfigure = 'Add them to the gateway file, in the view Configuration.';

export const ModelsView = ({ address }: { readonly address: ViewAddress }) => {
  const search = searchOf(address);
  const models = useManagementRequest('GET /models', { query: { search, order: 'use' } });
  const providers = useManagementRequest('GET /providers', { query: { search, limit: '200' } });
  const reload = () => {
    providers.reload();
    models.reload();
  };
  return (
    <>
      <search class="filters">
        <Search address={address} />
        <Button text="Refresh" onClick={reload} />
      </search>
      <h2>Models</h2>
      <StoredModels
        loaded={models}
        empty={search === undefined ? `There is no model. ${howToConfigure}` : 'No model has this text.'}
      />
      <h2>Providers</h2>
      <Shown loaded={providers}>
        {({ data }) => (
          <ProviderTable
            providers={data}
            search={search}
            reload={reload}
            empty={search === undefined ? `There is no provider. ${howToConfigure}` : 'No provider has this text.'}
          />
        )}
      </Shown>
    </>
  );
};

// Lists the stored models: input kinds and prices, the health of their providers, and differences from the model list.

interface StoredModelsProperties {
  readonly loaded: LoadState<List<Model>>;
  readonly empty: string;
}

const StoredModels = ({ loaded, empty }: StoredModelsProperties) => {
  const [shown, setShown] = useState<Model>();
  return (
    <>
      <PagedTable
        caption="Models"
        loaded={loaded}
        columns={[...columns, { title: 'Actions', show: (model) => <Actions model={model} show={setShown} /> }]}
        rowsOf={allRows}
        keyOf={({ id }) => id}
        empty={() => empty}
        moreTitle="More models"
      />
      {shown && <ModelDialog model={shown} close={() => setShown(undefined)} changed={loaded.reload} />}
    </>
  );
};

const Actions = ({ model, show }: { readonly model: Model; readonly show: (model: Model) => void }) => (
  <span class="actions">
    <Button text="Details" label={`Details of ${model.id}`} onClick={() => show(model)} />
    <Link view="playground" parameters={{ model: model.id }} text="Playground" />
  </span>
);

const columns: readonly TableColumn<Model>[] = [
  {
    title: 'Model',
    value: ({ id }) => id,
    show: ({ id, display_name }) => (
      <span class="lines">
        <Link view="calls" parameters={{ model: id }} text={id} />
        <span class="muted">{display_name}</span>
      </span>
    ),
  },
  countColumn('Context', ({ context_length }) => context_length),
  textColumn('Takes', ({ modalities }) => modalities.join(', ')),
  {
    title: 'USD per million tokens',
    value: ({ providers }) => dearestInput(providers),
    amounts: ({ providers }) =>
      providers.flatMap(({ input_price_per_million: input, output_price_per_million: output }) => [input, output]),
    isExact: true,
    show: ({ providers }, usd) => (
      <span class="lines">
        {providers.map(({ provider, input_price_per_million, output_price_per_million, state }) => (
          <span key={provider}>
            {provider} {usd(input_price_per_million)} in, {usd(output_price_per_million)} out
            {state !== undefined && <span class={`state ${state.replaceAll(' ', '-')}`}> {state}</span>}
          </span>
        ))}
      </span>
    ),
  },
  textColumn('Model list', besideTheList),
];

const dearestInput = (providers: Model['providers']): number | null => {
  const prices = providers.flatMap(({ input_price_per_million: price }) => (price === null ? [] : [Number(price)]));
  return prices.length === 0 ? null : Math.max(...prices);
};

function besideTheList(model: Model): string {
  const { length } = model.differences;
  if (length > 0) return length === 1 ? '1 difference' : `${length} differences`;
  return isListed(model) ? 'as there' : 'not there';
}

// Shows a stored model: its prices, its abilities and bounds at each provider, and its differences from the model list
// of the release, which can be applied.

interface ModelDialogProperties {
  readonly model: Model;
  readonly close: () => void;
  readonly changed: () => void;
}

const ModelDialog = ({ model, close, changed }: ModelDialogProperties) => {
  const mayTakeOver = useRights().holdsInAll('owner') && model.differences.length > 0;
  const { isRunning, failure, run } = useRequests();
  const takeOver = async () => {
    if ((await run(() => manage('POST /models/update', { body: { models: [model.id] } }))) === undefined) return;
    changed();
    close();
  };
  return (
    <Dialog title={model.id} onClose={close} isWide>
      {model.providers.map((entry) => (
        <AtProvider key={entry.provider} entry={entry} />
      ))}
      <h3>Beside the model list of this release</h3>
      <Table
        caption="Where the model list differs from what is stored"
        rows={model.differences}
        keyOf={({ provider, member }) => `${provider} ${member}`}
        empty={isListed(model) ? 'Nothing differs.' : 'The list does not know it: the gateway file says all of it.'}
        columns={differenceColumns}
      />
      <Failure failure={failure} />
      {mayTakeOver && model.differences.some(({ written_in_file }) => written_in_file) && (
        <p class="muted">What the gateway file writes itself, its next apply writes again.</p>
      )}
      <p class="actions">
        {mayTakeOver && <Button text="Take the list over" kind="main" disabled={isRunning} onClick={takeOver} />}
        <Button text="Close" onClick={close} />
      </p>
    </Dialog>
  );
};

type Entry = Model['providers'][number];
type Prices = Omit<NonNullable<Entry['price_tiers']>[number], 'above_prompt_tokens'>;

/** Returns the prices per unit, which few entries have. */
function unitPricesIn(entry: Entry): Readonly<Record<string, string>> {
  const written = {
    'Price of an image': entry.output_price_per_image,
    'Price of a character': entry.input_price_per_character,
    'Price of a second': entry.input_price_per_second,
    'Price of a request': entry.price_per_request,
    ...Object.fromEntries(
      Object.entries(entry.image_prices ?? {}).map(([name, price]) => [`Price of an image, ${name}`, price]),
    ),
  };
  return Object.fromEntries(
    Object.entries(written).flatMap(([name, price]) => (price === undefined ? [] : [[name, exactUsd(price)]])),
  );
}

const AtProvider = ({ entry }: { readonly entry: Entry }) => {
  const { tools, vision, json_mode, json_schema, extras = [] } = entry.supported_params;
  const features = Object.entries({ tools, vision, json_mode, json_schema, streaming: entry.streaming });
  const has = features.flatMap(([name, isThere]) => (isThere ? [name] : []));
  const limits = { RPM: entry.rate_limit_rpm, TPM: entry.rate_limit_tpm, TPD: entry.rate_limit_tpd };
  const bounded = Object.entries(limits).flatMap(([name, limit]) =>
    limit === null ? [] : [`${count(limit)} ${name}`],
  );
  const facts = {
    'Context, tokens': count(entry.context_length),
    'Output, tokens at most': count(entry.max_output_tokens),
    'Output, tokens where none are asked for': count(entry.default_output_tokens ?? null),
    ...(entry.weight === undefined ? {} : { Weight: count(entry.weight) }),
    ...unitPricesIn(entry),
    Features: [...has, ...extras].join(', ') || none,
    Interfaces: entry.apis.join(', '),
    Limits: bounded.join(', ') || none,
    'Written in the gateway file': entry.written?.join(', ') || (entry.written ? 'nothing: all is of the list' : 'all'),
  };
  const tiers = (entry.price_tiers ?? []).map((tier) => ({
    from: `above ${count(tier.above_prompt_tokens)}`,
    ...tier,
  }));
  return (
    <section>
      <h3>
        {entry.provider} <span class="muted">{entry.upstream_model}</span>
      </h3>
      <Table
        caption={`Prices at ${entry.provider}, USD per million tokens`}
        rows={[{ ...entry, from: tiers.length === 0 ? 'of any length' : 'shorter' }, ...tiers]}
        keyOf={({ from }) => from}
        empty=""
        columns={columnsFor([{ ...entry, from: '' }, ...tiers])}
      />
      <DescriptionList kind="facts" entries={Object.entries(facts)} />
    </section>
  );
};

/**
 * Shows a price. If the entry has no price of its own for this kind of tokens, `from` names the price that applies: the
 * price of input for cached tokens, the price of a cache write for tokens cached for an hour.
 */
type Priced = { readonly from: string } & {
  readonly [Member in keyof Prices]?: Entry['input_price_per_million'] | undefined;
};

const priceColumn = (title: string, member: keyof Prices): TableColumn<Priced> =>
  amountColumn(title, (prices) => prices[member] ?? null, { isExact: true });

const priceColumns: readonly TableColumn<Priced>[] = [
  { title: 'Prompt', show: ({ from }) => from },
  priceColumn('Input', 'input_price_per_million'),
  priceColumn('Output', 'output_price_per_million'),
  priceColumn('Cached', 'cached_input_price_per_million'),
  priceColumn('Written to cache', 'cache_write_input_price_per_million'),
  priceColumn('… for an hour', 'cache_write_1h_input_price_per_million'),
];

/** Lists the columns that are shown only if some entry has a price for them. Few entries have such a price. */
const mediaColumns: readonly (readonly [string, keyof Prices])[] = [
  ['Audio in', 'audio_input_price_per_million'],
  ['Images in', 'image_input_price_per_million'],
  ['Audio out', 'audio_output_price_per_million'],
  ['Images out', 'image_output_price_per_million'],
];

const columnsFor = (rows: readonly Priced[]): readonly TableColumn<Priced>[] => [
  ...priceColumns,
  ...mediaColumns
    .filter(([, member]) => rows.some((row) => row[member] !== undefined))
    .map(([title, member]) => priceColumn(title, member)),
];

type Difference = Model['differences'][number];

const shown = (value: unknown): string =>
  value === null ? none : typeof value === 'string' ? value : JSON.stringify(value);

const differenceColumns: readonly TableColumn<Difference>[] = [
  textColumn('Provider', ({ provider }) => provider),
  { title: 'Field', value: ({ member }) => member, show: ({ member }) => <code>{member}</code> },
  { title: 'Stored', show: ({ stored }) => shown(stored) },
  { title: 'In the list', show: ({ listed }) => shown(listed) },
  { title: 'In the file', show: ({ written_in_file }) => (written_in_file ? 'yes' : 'no') },
];
