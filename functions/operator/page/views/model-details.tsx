// A stored model: its prices, its abilities and bounds at each provider, and its differences from the model list of the
// release, which can be applied.
import type { Model } from '../connection/documents.ts';
import { manage } from '../connection/management.ts';
import { useRights } from '../connection/session-rights.ts';
import { Button } from '../parts/button.tsx';
import { DescriptionList } from '../parts/description-list.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { exactUsd } from '../parts/money.ts';
import { count, none } from '../parts/shown-values.ts';
import { Failure } from '../parts/states.tsx';
import { amountColumn, Table, type TableColumn, textColumn } from '../parts/table.tsx';
import { useRequests } from '../parts/use-requests.ts';

interface ModelDialogProperties {
  readonly model: Model;
  readonly close: () => void;
  readonly changed: () => void;
}

export const ModelDialog = ({ model, close, changed }: ModelDialogProperties) => {
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

/** Whether the list filled in fields that the file omitted. */
export const isListed = ({ providers, differences }: Model): boolean =>
  differences.length > 0 || providers.some(({ written }) => written !== undefined);

type Entry = Model['providers'][number];
type Prices = Omit<NonNullable<Entry['price_tiers']>[number], 'above_prompt_tokens'>;

/** Few entries have some. */
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
 * Without a price of its own another applies: the input's for cached tokens, the cache write's for those cached for an
 * hour.
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

/** Few entries have one: shown where some do. */
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
