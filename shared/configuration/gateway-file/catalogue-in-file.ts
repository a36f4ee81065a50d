// The catalogue as a gateway file writes it: for exports. What the kind of a provider, or the model list, would fill in again
// may be left out.
import type { CatalogueDocument, ModelDocument, ModelProviderDocument, ProviderDocument } from '../catalogue/index.ts';
import type { ModelList } from '../model-list/index.ts';
import { isSame } from './complete-entry.ts';
import { knownEntries, modalitiesOf } from './list-differences.ts';
import { bareProvider } from './provider-schema.ts';

type Members = Record<string, unknown>;

/** `list`: left out, all is written. */
export function catalogueInFile(
  { service, providers, models }: CatalogueDocument,
  list: ModelList | undefined,
): Readonly<Record<'service' | 'providers' | 'models', unknown>> {
  return {
    service,
    providers: providers.map((provider) => providerInFile(provider, list !== undefined)),
    models: models.map((model) => modelInFile(model, providers, list)),
  };
}

/** An enabled provider says nothing of it: a file that did would enable one again that was disabled since. */
function providerInFile({ status, ...provider }: ProviderDocument, isShort: boolean): Members {
  const members: Members = status === 'enabled' ? provider : { ...provider, status };
  if (!isShort || provider.kind === undefined) return members;
  return without(members, bareProvider(provider), ['id', 'kind', 'region']);
}

/** Less the members that are the same in the other one. */
const without = (members: Members, same: Members, kept: readonly string[] = []): Members =>
  Object.fromEntries(
    Object.entries(members).filter(([name, value]) => kept.includes(name) || !isSame(value, same[name])),
  );

function modelInFile(
  model: ModelDocument,
  providers: readonly ProviderDocument[],
  list: ModelList | undefined,
): Members {
  const { written: _written, ...members } = model;
  const known = list === undefined ? [] : knownEntries({ providers }, model, list);
  const entries = model.providers.map((entry) => {
    const listed = known.find((one) => one.entry === entry);
    return entryInFile(entry, listed?.members);
  });
  if (known.length === 0) return { ...members, providers: entries };
  const longest = Math.max(...model.providers.map(({ context_length }) => context_length));
  const same = { display_name: model.id, context_length: longest, modalities: modalitiesOf(known), auto: false };
  return { ...without(members, same), providers: entries };
}

function entryInFile({ written: _written, ...entry }: ModelProviderDocument, listed: Members | undefined): Members {
  if (listed === undefined) return entry;
  const { supported_params, ...members } = entry;
  const { extras } = supported_params;
  const features = without({ ...supported_params, extras: undefined }, listed);
  const params = { ...features, ...(extras === undefined ? {} : { extras }) };
  const noLimits = { rate_limit_rpm: null, rate_limit_tpm: null, rate_limit_tpd: null };
  return {
    ...without(members, { ...listed, ...noLimits }),
    ...(Object.values(params).every((value) => value === undefined) ? {} : { supported_params: params }),
  };
}
