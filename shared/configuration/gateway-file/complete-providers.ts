// The providers that a file makes of the stored ones, whole.
import type { ProviderDocument } from '../catalogue/index.ts';
import type { CatalogueInFile } from './catalogue-schema.ts';
import type { CatalogueSources, Told } from './catalogue-sources.ts';
import { isSame } from './complete-entry.ts';
import { bareProvider, inRegion } from './provider-schema.ts';

export function completeProviders(
  file: CatalogueInFile,
  { former, region }: CatalogueSources,
  { report, fill }: Told,
): ProviderDocument[] {
  const formerById = new Map(former?.providers.map((provider) => [provider.id, provider]));
  return file.providers.flatMap((written, index) => {
    const stored = formerById.get(written.id);
    const provider = inRegion(written, stored, region);
    if (provider === undefined) {
      report(
        ['providers', index, 'region'],
        'is required, such as eu-west-1: no AWS_REGION says where the gateway runs',
      );
      return [];
    }
    fill(`providers[${provider.id}]`, `kind ${provider.kind}`, membersOfKind(provider, stored));
    return [{ ...provider, status: written.status ?? stored?.status ?? 'enabled' }];
  });
}

const kindMembers = ['base_url', 'apis', 'auth', 'headers', 'reasoning_style', 'stream_usage'] as const;

/** What is as its kind has it, and not stored. */
function membersOfKind(provider: Omit<ProviderDocument, 'status'>, stored: ProviderDocument | undefined) {
  if (provider.kind === undefined) return {};
  const bare = bareProvider(provider);
  const filled = kindMembers.filter((member) => {
    const value = provider[member];
    return value !== undefined && isSame(value, bare[member]) && !isSame(value, stored?.[member]);
  });
  return Object.fromEntries(filled.map((member) => [member, provider[member]]));
}
