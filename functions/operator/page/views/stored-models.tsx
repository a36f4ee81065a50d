// The stored models: input kinds and prices, the health of their providers, and differences from the model list.
import { useState } from 'preact/hooks';
import type { List, Model } from '../connection/documents.ts';
import type { Loaded } from '../connection/management.ts';
import { Button } from '../parts/button.tsx';
import { Link } from '../parts/link.tsx';
import { allRows, PagedTable } from '../parts/paged-table.tsx';
import { count, usd } from '../parts/shown-values.ts';
import type { TableColumn } from '../parts/table.tsx';
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
    show: ({ id, display_name }) => (
      <span class="lines">
        <Link view="calls" parameters={{ model: id }} text={id} />
        <span class="muted">{display_name}</span>
      </span>
    ),
  },
  { title: 'Context', isNumber: true, show: ({ context_length }) => count(context_length) },
  { title: 'Takes', show: ({ modalities }) => modalities.join(', ') },
  {
    title: 'USD per million tokens',
    show: ({ providers }) => (
      <span class="lines">
        {providers.map(({ provider, input_price_per_million, output_price_per_million, state }) => (
          <span key={provider}>
            {provider} {usd(input_price_per_million)} in, {usd(output_price_per_million)} out
            {state !== undefined && <span class="muted"> {state}</span>}
          </span>
        ))}
      </span>
    ),
  },
  { title: 'Model list', show: besideTheList },
];

function besideTheList(model: Model): string {
  const { length } = model.differences;
  if (length > 0) return length === 1 ? '1 difference' : `${length} differences`;
  return isListed(model) ? 'as there' : 'not there';
}
