// Models with their prices by provider, those that are called first; below them the providers, each with its health at its
// models.
import type { ViewAddress } from '../connection/address.ts';
import { useManaged } from '../connection/management.ts';
import { Button } from '../parts/button.tsx';
import { Search, searchOf } from '../parts/filters.tsx';
import { Shown } from '../parts/states.tsx';
import { ProviderTable } from './providers.tsx';
import { StoredModels } from './stored-models.tsx';

const howToConfigure = 'Add them to the gateway file, in the view Configuration.';

export const ModelsView = ({ address }: { readonly address: ViewAddress }) => {
  const search = searchOf(address);
  const models = useManaged('GET /models', { query: { search, order: 'use' } });
  const providers = useManaged('GET /providers', { query: { search, limit: '200' } });
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
