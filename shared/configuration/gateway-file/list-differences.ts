// Finds the differences between the shipped list and the stored catalogue, and builds the catalogue with the list's
// values.
import type { CatalogueDocument, ModelDocument, ModelProviderDocument, ProviderDocument } from '../catalogue/index.ts';
import type { ListedModel, ModelList } from '../model-list/index.ts';
import { findListed } from './complete-catalogue.ts';
import { entryMembers, isSame, listedMembers } from './complete-entry.ts';

export interface ListDifference {
  readonly model: string;
  /** Provider; undefined for a field of the model itself. */
  readonly provider: string | undefined;
  readonly member: string;
  readonly stored: unknown;
  readonly listed: unknown;
  /** True if the file wrote the value, because applying the file again writes it again. */
  readonly isWritten: boolean;
}

/** Returns the differences in catalogue order. A model that is not in the list has no differences. */
export const listDifferences = (document: CatalogueDocument, list: ModelList): ListDifference[] =>
  document.models.flatMap((model) => {
    const known = knownEntries(document, model, list);
    const entryDifferences = known.flatMap(({ entry, members }) => {
      const storedMembers = entryMembers(entry);
      return Object.keys(storedMembers).flatMap((member): ListDifference[] => {
        if (isSame(storedMembers[member], members[member])) return [];
        const isWritten = entry.written === undefined || entry.written.includes(member);
        const { provider } = entry;
        return [
          { model: model.id, provider, member, stored: storedMembers[member], listed: members[member], isWritten },
        ];
      });
    });
    const modalities = modalitiesOf(known);
    if (modalities === undefined || isSame(model.modalities, modalities)) return entryDifferences;
    const isWritten = model.written === undefined || model.written.includes('modalities');
    const modelDifference = { member: 'modalities', stored: model.modalities, listed: modalities, isWritten };
    return [...entryDifferences, { model: model.id, provider: undefined, ...modelDifference }];
  });

/** Returns the catalogue with all of the list's values for these models. */
export function withListValues(
  document: CatalogueDocument,
  list: ModelList,
  isWanted: (modelId: string) => boolean,
): CatalogueDocument {
  return {
    ...document,
    models: document.models.map((model) => {
      const known = isWanted(model.id) ? knownEntries(document, model, list) : [];
      if (known.length === 0) return model;
      const memberByEntry = new Map(known.map(({ entry, members }) => [entry, members]));
      const providers = model.providers.map((entry) => {
        const members = memberByEntry.get(entry);
        return members === undefined ? entry : withMembers(entry, members);
      });
      const wasLongest = model.context_length === longestOf(model.providers);
      return {
        ...model,
        context_length: wasLongest ? longestOf(providers) : model.context_length,
        modalities: modalitiesOf(known) ?? model.modalities,
        providers,
        written: [],
      };
    }),
  };
}

const longestOf = (entries: readonly ModelProviderDocument[]): number =>
  Math.max(0, ...entries.map(({ context_length }) => context_length));

function withMembers(entry: ModelProviderDocument, members: Readonly<Record<string, unknown>>): ModelProviderDocument {
  const { tools, vision, json_mode, json_schema, tools_in_streams, ...rest } = members;
  const whole = tools_in_streams === undefined ? {} : { tools_in_streams };
  const supported_params = { ...entry.supported_params, tools, vision, json_mode, json_schema, ...whole };
  return { ...entry, ...rest, supported_params, written: [] } as ModelProviderDocument;
}

interface KnownEntry {
  readonly entry: ModelProviderDocument;
  readonly provider: ProviderDocument;
  readonly listed: ListedModel;
  /** The list's values, by the fields of the file. */
  readonly members: Readonly<Record<string, unknown>>;
}

/** Returns the entries of the model that the list knows. */
export function knownEntries(
  { providers }: { readonly providers: readonly ProviderDocument[] },
  model: ModelDocument,
  list: ModelList,
): KnownEntry[] {
  return model.providers.flatMap((entry) => {
    const provider = providers.find(({ id }) => id === entry.provider);
    const listed = provider && findListed(list, provider, model.id, entry);
    if (provider === undefined || listed === undefined) return [];
    return [{ entry, provider, listed, members: listedMembers(listed, provider) }];
  });
}

export const modalitiesOf = (known: readonly Pick<KnownEntry, 'listed'>[]): string[] | undefined =>
  known.length === 0 ? undefined : [...new Set(known.flatMap(({ listed }) => listed.modalities))];
