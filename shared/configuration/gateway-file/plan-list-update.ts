// Updates the catalogue from the shipped model list: the differences, and the write that removes them.
import { suggest } from '../../errors/index.ts';
import { ChangeFailed, refuseAs } from '../administration/index.ts';
import type { CatalogueDocument, CatalogueStore } from '../catalogue/index.ts';
import { loadModelList } from '../model-list/index.ts';
import { type ListDifference, listDifferences, withListValues } from './list-differences.ts';

export const shippedListDifferences = async (document: CatalogueDocument): Promise<ListDifference[]> =>
  listDifferences(document, await loadModelList());

interface ListUpdate {
  /** The day on which the list was generated. */
  readonly listDate: string;
  readonly differences: readonly ListDifference[];
  /** Writes the values; does nothing if there are no differences. */
  write(nowMs: number): Promise<void>;
}

/** Plans the update. Empty `models` select all stored models. Throws ChangeFailed if a model is not stored. */
export async function planListUpdate(
  catalogues: Pick<CatalogueStore, 'read' | 'write'>,
  models: readonly string[] = [],
): Promise<ListUpdate> {
  const document = await catalogues.read();
  const known = document?.models.map(({ id }) => id) ?? [];
  const unknown = models.find((id) => !known.includes(id));
  if (unknown !== undefined) {
    const message = `there is no model ${JSON.stringify(unknown)}. ${suggest(unknown, known, '')}`.trim();
    throw new ChangeFailed('absent', message, { param: 'models' });
  }
  const list = await loadModelList();
  const isWanted = (id: string) => models.length === 0 || models.includes(id);
  const all = document === undefined ? [] : listDifferences(document, list);
  const differences = all.filter(({ model }) => isWanted(model));
  return {
    listDate: list.date,
    differences,
    async write(nowMs) {
      if (differences.length === 0) return;
      const writing = catalogues.write((former) => {
        if (former === undefined) throw new ChangeFailed('absent', 'there are no models: apply a gateway file first');
        return withListValues(former, list, isWanted);
      }, nowMs);
      await writing.catch(refuseAs('conflict'));
    },
  };
}
