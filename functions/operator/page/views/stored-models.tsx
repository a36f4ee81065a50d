// The stored models: input kinds and prices, the health of their providers, and differences from the model list.
import { useState } from 'preact/hooks';
import type { List, Model } from '../connection/documents.ts';
import type { Loaded } from '../connection/management.ts';
import { Button } from '../parts/button.tsx';
import { Link } from '../parts/link.tsx';
import { allRows, PagedTable } from '../parts/paged-table.tsx';
import { countColumn, type TableColumn, textColumn } from '../parts/table.tsx';
import { isListed, ModelDialog } from './model-details.tsx';

interface StoredModelsProperties {
  readonly loaded: Loaded<List<Model>>;
  readonly empty: string;
}

export const StoredModels = ({ loaded, empty }: StoredModelsProperties) => {
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
