// Resolves names of models as clients of Amazon Bedrock write them: upstream names and ARNs, with or without the prefix
// of a region. Such a prefix is a restriction: entries without the prefix do not serve the name.
import { coversRegion } from '../model-list/index.ts';
import type { Candidate, CatalogueModel } from './catalogue.ts';

interface BedrockName {
  readonly name: string;
  /** Prefix: `eu`, `us`, `global`. */
  readonly region: string | undefined;
}

const arn = /^arn:aws[\w-]*:bedrock:[^:]*:[^:]*:(?:foundation-model|inference-profile)\/(.+)$/;
/** Matches a region's prefix, which has two letters or is one of these words. Names of vendors are longer. */
const regionPrefix = /^(global|apac|[a-z]{2}(?:-gov)?)\.(.+\..+)$/;

/** Parses a name. ARNs of anything other than a model stay unchanged. */
export function readBedrockName(modelId: string): BedrockName {
  const name = arn.exec(modelId)?.[1] ?? modelId;
  const [, region, rest] = regionPrefix.exec(name) ?? [];
  return rest === undefined ? { name, region: undefined } : { name: rest, region };
}

export type NamedAtBedrock =
  /** `model` has the candidates that may serve the name. */
  | { readonly kind: 'found'; readonly model: CatalogueModel }
  | { readonly kind: 'several'; readonly ids: readonly string[] }
  /** No entry has the prefix. `regions` are the existing prefixes, and AWS regions of entries without a prefix. */
  | { readonly kind: 'elsewhere'; readonly regions: readonly string[] }
  | { readonly kind: 'unknown' };

/** Finds the model. `among` is the models that the caller may use. */
export function findAtBedrock(modelId: string, among: readonly CatalogueModel[]): NamedAtBedrock {
  const bedrockName = readBedrockName(modelId);
  const matches = among.flatMap((model) => {
    const entries = model.candidates.filter(
      (candidate) => isAtBedrock(candidate) && isNamed(candidate, modelId, bedrockName),
    );
    return entries.length === 0 ? [] : [{ model, entries }];
  });
  if (matches.length === 0) return { kind: 'unknown' };
  const { region } = bedrockName;
  if (region === undefined) {
    const exact = matches.filter(({ entries }) => entries.some(({ entry }) => entry.upstream_model === modelId));
    return oneOf(exact.length === 0 ? matches : exact);
  }
  const servingModels = matches.flatMap(({ model, entries }) => {
    const candidates = entries.filter((candidate) => serves(candidate, region));
    return candidates.length === 0 ? [] : [{ model: { ...model, candidates }, entries }];
  });
  return servingModels.length > 0
    ? oneOf(servingModels)
    : { kind: 'elsewhere', regions: regionsOf(matches.flatMap(({ entries }) => entries)) };
}

function oneOf(named: readonly { readonly model: CatalogueModel }[]): NamedAtBedrock {
  const [first, ...others] = named;
  if (first === undefined) return { kind: 'unknown' };
  return others.length === 0
    ? { kind: 'found', model: first.model }
    : { kind: 'several', ids: named.map(({ model: { model } }) => model.id) };
}

const isAtBedrock = ({ provider }: Candidate): boolean =>
  provider.kind === 'bedrock' || provider.apis.includes('converse');

const isNamed = ({ entry }: Candidate, modelId: string, { name }: BedrockName): boolean =>
  entry.upstream_model === modelId || readBedrockName(entry.upstream_model).name === name;

/** True if the entry serves the region; an entry without a prefix has the region of its provider. */
function serves({ entry, provider }: Candidate, region: string): boolean {
  const prefix = readBedrockName(entry.upstream_model).region;
  if (prefix !== undefined) return prefix === region;
  return provider.region !== undefined && coversRegion(region, provider.region);
}

const regionsOf = (candidates: readonly Candidate[]): readonly string[] => [
  ...new Set(
    candidates.flatMap(({ entry, provider }) => {
      const { region } = readBedrockName(entry.upstream_model);
      return region === undefined ? (provider.region ?? []) : `${region}.`;
    }),
  ),
];
