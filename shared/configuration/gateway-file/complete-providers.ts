// Completes the providers of a file with the stored ones.
import type { CatalogueDocument, ProviderDocument } from '../catalogue/index.ts';
import type { ModelList } from '../model-list/index.ts';
import type { CatalogueInFile } from './catalogue-schema.ts';
import { isSame } from './complete-entry.ts';
import type { Path } from './problems.ts';
import { bareProvider, inRegion } from './provider-schema.ts';

export function completeProviders(
  file: CatalogueInFile,
  { former, region }: CatalogueSources,
  { report, fill }: CompletionReport,
): ProviderDocument[] {
  const formerById = new Map(former?.providers.map((provider) => [provider.id, provider]));
  return file.providers.flatMap((written, index) => {
    const storedProvider = formerById.get(written.id);
    const provider = inRegion(written, storedProvider, region);
    if (provider === undefined) {
      report(
        ['providers', index, 'region'],
        'is required, such as eu-west-1: no AWS_REGION says where the gateway runs',
      );
      return [];
    }
    fill(`providers[${provider.id}]`, `kind ${provider.kind}`, membersOfKind(provider, storedProvider));
    return [{ ...provider, status: written.status ?? storedProvider?.status ?? 'enabled' }];
  });
}

const kindMembers = ['base_url', 'apis', 'auth', 'headers', 'reasoning_style', 'stream_usage'] as const;

/** Returns values of the provider's kind that are not stored. */
function membersOfKind(provider: Omit<ProviderDocument, 'status'>, stored: ProviderDocument | undefined) {
  if (provider.kind === undefined) return {};
  const bare = bareProvider(provider);
  const filled = kindMembers.filter((member) => {
    const value = provider[member];
    return value !== undefined && isSame(value, bare[member]) && !isSame(value, stored?.[member]);
  });
  return Object.fromEntries(filled.map((member) => [member, provider[member]]));
}

// Inputs and results of completing a catalogue. Types only.

export interface CatalogueSources {
  readonly former: CatalogueDocument | undefined;
  readonly list: ModelList;
  /** AWS region in which the gateway runs. */
  readonly region: string | undefined;
  readonly nowMs: number;
}

/** Fields that a file omits and that are filled in when it is applied, at one place of the file. */
export interface FilledMembers {
  /** Place such as `models[openai/gpt-5.4].providers[openai]`. */
  readonly place: string;
  readonly origin: string;
  readonly members: Readonly<Record<string, unknown>>;
}

/** Lists to which the completion of each part adds its results. */
export interface CompletionReport {
  readonly report: (path: Path, message: string) => void;
  readonly fill: (place: string, origin: string, members: FilledMembers['members']) => void;
}
