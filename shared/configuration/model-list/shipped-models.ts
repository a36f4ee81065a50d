// Loads the list of models that this release ships. The list costs nothing until a file is applied, because no call
// reads it.
import { fromRow, type ListDocument, type ListedModel } from './listed-model.ts';
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
  const byKind = new Map<string, Map<string, ListedModel>>();
  for (const row of models) {
    const model = fromRow(row);
    const named = byKind.get(model.kind) ?? new Map<string, ListedModel>();
    byKind.set(model.kind, named.set(model.name, model));
  }
  const all = (kind: ProviderKind) => [...(byKind.get(kind)?.values() ?? [])];
  return {
    date,
    find(kind, name, region) {
      const named = byKind.get(kind);
      return named?.get(`${region}/${name}`) ?? named?.get(name);
    },
    offered: (kind, region) =>
      all(kind).filter(
        ({ name, endsOn }) =>
          !regional.test(name) && (endsOn === undefined || endsOn > date) && isInRegion(kind, name, region),
      ),
    namesDeployments: (kind) => providerKinds[kind].namesDeployments === true,
    names: (kind) => all(kind).flatMap(({ name }) => (regional.test(name) ? [] : [name])),
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
