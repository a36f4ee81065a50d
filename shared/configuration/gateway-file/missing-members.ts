// Required fields of an entry that neither the file nor the model list has.
import type { ProviderDocument } from '../catalogue/index.ts';
import type { ListedModel, ModelList } from '../model-list/index.ts';
import { type Path, quote, suggest } from './problems.ts';

const requiredMembers = ['input_price_per_million', 'output_price_per_million', 'context_length'] as const;

interface EntryInput {
  readonly provider: Pick<ProviderDocument, 'id' | 'kind' | 'apis'>;
  readonly upstream_model: string;
  readonly listed: ListedModel | undefined;
  readonly list: Pick<ModelList, 'names'>;
}

/** One problem for all of them, if any. */
export function missingMembers(
  values: Readonly<Record<string, unknown>>,
  { provider, upstream_model, listed, list }: EntryInput,
): { readonly path: Path; readonly message: string } | undefined {
  const missing = requiredMembers.filter((member) => values[member] === undefined);
  const { id, kind } = provider;
  if (missing.length > 0 && kind !== undefined) {
    const names = list.names(kind);
    const hint = names.length === 0 ? '' : `; ${suggest(upstream_model, names)}`;
    const unlisted = `the model list has no ${quote(upstream_model)} of kind ${kind}`;
    return { path: [], message: `${unlisted}, so ${missing.join(', ')} must be written, or list_model${hint}` };
  }
  if (Array.isArray(values.apis) && values.apis.length === 0 && listed !== undefined) {
    const served = listed.apis.join(', ');
    return {
      path: ['apis'],
      message: `is empty: the model is served by ${served}, and ${id} by ${provider.apis.join(', ')}`,
    };
  }
  return undefined;
}
