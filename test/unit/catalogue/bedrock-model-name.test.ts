// Names of Amazon Bedrock as model ids: each is one model or none, and never an entry of another region.
import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import {
  type Candidate,
  type CatalogueModel,
  findAtBedrock,
  readBedrockName,
} from '../../../shared/configuration/catalogue/index.ts';

interface Entry {
  readonly upstream: string;
  /** The region of the entry's provider. */
  readonly region?: string;
  readonly kind?: 'bedrock' | 'anthropic';
}

const candidateOf = ({ upstream, region, kind = 'bedrock' }: Entry): Candidate =>
  ({
    provider: { id: `${kind}-${region ?? 'none'}`, kind, region, apis: [kind === 'bedrock' ? 'converse' : 'messages'] },
    entry: { upstream_model: upstream },
  }) as unknown as Candidate;

const modelOf = (id: string, ...entries: readonly Entry[]): CatalogueModel => ({
  model: { id } as CatalogueModel['model'],
  candidates: entries.map(candidateOf),
});

const sonnet = 'anthropic.claude-sonnet-4-20250514-v1:0';
const claude = modelOf(
  'claude',
  { upstream: `eu.${sonnet}`, region: 'eu-central-1' },
  { upstream: `us.${sonnet}`, region: 'us-east-1' },
  { upstream: sonnet, region: 'ap-northeast-1' },
  { upstream: 'claude-sonnet-4', kind: 'anthropic' },
);
const nova = modelOf('nova', { upstream: 'amazon.nova-pro-v1:0', region: 'us-east-1' });
const models = [claude, nova];

const found = (modelId: string, among = models) => {
  const match = findAtBedrock(modelId, among);
  if (match.kind !== 'found') return match;
  const { model, candidates } = match.model;
  return [model.id, ...candidates.map(({ entry }) => entry.upstream_model)];
};
const all = ['claude', `eu.${sonnet}`, `us.${sonnet}`, sonnet, 'claude-sonnet-4'];
const arn = (resource: string, region = 'us-east-1', account = '') =>
  `arn:aws:bedrock:${region}:${account}:${resource}`;

describe('a name of Amazon Bedrock', () => {
  it.each([
    [sonnet, all],
    [arn(`foundation-model/${sonnet}`), all],
    [`us.${sonnet}`, ['claude', `us.${sonnet}`]],
    [`eu.${sonnet}`, ['claude', `eu.${sonnet}`]],
    [arn(`inference-profile/eu.${sonnet}`, 'eu-west-1', '123456789012'), ['claude', `eu.${sonnet}`]],
    // An entry without a prefix has the region of its provider.
    [`apac.${sonnet}`, ['claude', sonnet]],
    [`jp.${sonnet}`, ['claude', sonnet]],
    ['us.amazon.nova-pro-v1:0', ['nova', 'amazon.nova-pro-v1:0']],
  ])('%s is one model', (modelId, expected) => {
    expect(found(modelId)).toEqual(expected);
  });

  it.each([`global.${sonnet}`, `ca.${sonnet}`, `us-gov.${sonnet}`])(
    '%s is served by no entry of another prefix',
    (modelId) => {
      expect(found(modelId)).toEqual({ kind: 'elsewhere', regions: ['eu.', 'us.', 'ap-northeast-1'] });
    },
  );

  it.each(['claude-sonnet-4', 'anthropic.claude-opus', '', arn('application-inference-profile/abc'), 'us.'])(
    'is none if no entry at Bedrock has it: %s',
    (modelId) => expect(found(modelId)).toEqual({ kind: 'unknown' }),
  );

  it('is an ARN of any kind if an entry has it as it is', () => {
    const profile = arn('application-inference-profile/abc', 'us-east-1', '123456789012');
    const model = modelOf('own', { upstream: profile, region: 'us-east-1' });
    expect(found(profile, [...models, model])).toEqual(['own', profile]);
  });

  it('is refused with the ids of several models, unless one has it exactly, or its prefix', () => {
    const other = modelOf('other', { upstream: `global.${sonnet}`, region: 'us-east-1' });
    expect(found(sonnet, [claude, other])).toEqual(all);
    expect(found(`global.${sonnet}`, [claude, other])).toEqual(['other', `global.${sonnet}`]);
    const twin = modelOf('twin', { upstream: sonnet, region: 'us-east-1' });
    expect(found(sonnet, [claude, twin])).toEqual({ kind: 'several', ids: ['claude', 'twin'] });
    expect(found(`us.${sonnet}`, [claude, twin])).toEqual({ kind: 'several', ids: ['claude', 'twin'] });
  });

  const prefixes = ['', 'eu.', 'us.', 'apac.', 'global.', 'jp.', 'us-gov.'];
  const regions = ['us-east-1', 'eu-central-1', 'ap-northeast-1', 'us-gov-west-1', 'ca-central-1'];
  const entries = fc.record({
    upstream: fc.constantFrom(...prefixes).map((prefix) => prefix + sonnet),
    region: fc.constantFrom(...regions),
    kind: fc.constantFrom('bedrock', 'anthropic') as fc.Arbitrary<'bedrock' | 'anthropic'>,
  });

  it('with a prefix never reaches an entry of another prefix, or of another provider, whatever entries there are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(entries, { maxLength: 4 }), { maxLength: 3 }),
        fc.constantFrom(...prefixes),
        (lists, prefix) => {
          const among = lists.map((list, at) => modelOf(`m${at}`, ...list));
          const match = findAtBedrock(prefix + sonnet, among);
          if (match.kind !== 'found' || prefix === '') return;
          expect(match.model.candidates.length).toBeGreaterThan(0);
          for (const { entry, provider } of match.model.candidates) {
            expect(provider.kind).toBe('bedrock');
            const region = readBedrockName(entry.upstream_model).region;
            if (region !== undefined) expect(`${region}.`).toBe(prefix);
            else expect(prefix).not.toBe('global.');
          }
        },
      ),
    );
  });

  it('means the same as its ARN', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(entries, { maxLength: 4 }), { maxLength: 3 }),
        fc.constantFrom(...prefixes),
        (lists, prefix) => {
          const among = lists.map((list, at) => modelOf(`m${at}`, ...list));
          const name = prefix + sonnet;
          const resource = prefix === '' ? `foundation-model/${name}` : `inference-profile/${name}`;
          const [plain, byArn] = [findAtBedrock(name, among), findAtBedrock(arn(resource), among)];
          // The exact name of an entry has precedence over names that differ in their prefix.
          if (prefix !== '') expect(byArn).toEqual(plain);
          else if (byArn.kind === 'found') expect(plain.kind).toBe('found');
        },
      ),
    );
  });
});
