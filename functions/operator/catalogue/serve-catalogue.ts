// GET /v1/manage/models: the catalogue in the words of the gateway file, with the state of each provider.
import * as z from 'zod/mini';
import type { ManagedModel } from '../../../shared/configuration/management-documents/index.ts';
import type { Work } from '../request/manage.ts';
import { pageOf, pageParameters } from '../request/pages.ts';
import { readQuery } from '../request/read-asked.ts';
import { healthDocument, readHealths } from './serve-providers.ts';

const parameters = z.strictObject(pageParameters);

export const listCatalogue: Work = async (deps, request) => {
  const asked = readQuery(request, parameters);
  const document = await deps.catalogues.read();
  const { items, next_cursor } = pageOf(document?.models ?? [], asked, ({ id }) => [id]);
  const healths = await readHealths(deps, document);
  const data = items.map(
    (model): ManagedModel => ({
      ...model,
      providers: model.providers.map((entry) => {
        const health = healths.find((one) => one.model === model.id && one.provider === entry.provider);
        const { model: _model, ...state } =
          health === undefined ? { model: '' } : healthDocument(health, request.operator);
        return { ...entry, ...state };
      }),
    }),
  );
  return { data, next_cursor };
};
