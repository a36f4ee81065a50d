// Loads the list of models that this release ships. The list costs nothing until a file is applied, because no call
// reads it.
import { fromRow, type ListDocument, type ListedModel, type ListRow } from './listed-model.ts';
import { type ProviderKind, providerKinds } from './provider-kinds.ts';

export interface ModelList {
  /** The day on which the list was generated. */
  readonly date: string;
  /** Finds a model. `region` is the region of an AWS provider, if prices of some models differ by region. */
  find(kind: ProviderKind, name: string, region?: string): ListedModel | undefined;
  /**
   * Returns models that a provider of the kind offers; for Amazon Bedrock, models that are callable from the region.
   * Models that had ended when the list was generated are omitted.
   */
  offered(kind: ProviderKind, region?: string): readonly ListedModel[];
  names(kind: ProviderKind): readonly string[];
  /** True if names of models are those of an account's own deployments. */
  namesDeployments(kind: ProviderKind): boolean;
}

/** Loads the list, which is a file next to a bundle. */
export async function loadModelList(): Promise<ModelList> {
  const { listDocument } = await import('./list-document.ts');
  return openModelList(listDocument as unknown as ListDocument);
}

/** Matches the prefix of a name with prices in one region. */
const regional = /^[a-z]{2}(-[a-z]+)+-\d\//;

export function openModelList({ date, models }: ListDocument): ModelList {
  // A gateway file names a few of some thousand models: each row is converted when it is read.
  const byKind = new Map<string, Map<string, ListRow>>();
  for (const row of models) {
    const [kind, name] = row;
    const modelsByName = byKind.get(kind) ?? new Map<string, ListRow>();
    byKind.set(kind, modelsByName.set(name, row));
  }
  const all = (kind: ProviderKind) => [...(byKind.get(kind)?.values() ?? [])].map(fromRow);
  return {
    date,
    find(kind, name, region) {
      const modelsByName = byKind.get(kind);
      const row = modelsByName?.get(`${region}/${name}`) ?? modelsByName?.get(name);
      return row && fromRow(row);
    },
    offered: (kind, region) =>
      all(kind).filter(
        ({ name, endsOn }) =>
          !regional.test(name) && (endsOn === undefined || endsOn > date) && isInRegion(kind, name, region),
      ),
    namesDeployments: (kind) => providerKinds[kind].namesDeployments === true,
    names: (kind) => [...(byKind.get(kind)?.keys() ?? [])].filter((name) => !regional.test(name)),
  };
}

/** The AWS regions that can call inference profiles, by the prefix of their names. */
const profileRegions: Readonly<Record<string, RegExp>> = {
  us: /^us-(?!gov)|^ca-/,
  'us-gov': /^us-gov-/,
  eu: /^eu-/,
  apac: /^ap-/,
  jp: /^ap-northeast-/,
  au: /^ap-southeast-[24]/,
  in: /^ap-south-/,
  ca: /^ca-/,
};

/** True if the AWS region can call profiles with this prefix. */
export const coversRegion = (prefix: string, region: string): boolean => profileRegions[prefix]?.test(region) === true;

function isInRegion(kind: ProviderKind, name: string, region: string | undefined): boolean {
  if (kind !== 'bedrock' || region === undefined) return true;
  const regions = profileRegions[name.split('.', 1)[0] ?? ''];
  return regions === undefined || regions.test(region);
}
