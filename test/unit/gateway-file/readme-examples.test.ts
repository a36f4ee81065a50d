import { parse } from 'yaml';
import { expect, it } from '#jest';
import { knownProviders } from '../../../infra/local/demo/known-providers.ts';
import { completeCatalogue } from '../../../shared/configuration/gateway-file/complete-catalogue.ts';
import { listDifferences, withListValues } from '../../../shared/configuration/gateway-file/index.ts';
import { loadModelList } from '../../../shared/configuration/model-list/index.ts';
import { readmeExamples, wholeExamples } from '../../support/readme-examples.ts';
import { fileOf } from './example-file.ts';

const list = await loadModelList();
const nowMs = Date.parse(list.date);

const parts = readmeExamples.filter((example) => !wholeExamples.includes(example));

it.each(parts.map(({ place, text }) => [place, text] as const))(
  'the part of a gateway file in %s is one of a file, as it stands',
  (_place, text) => {
    const members = Object.keys(parse(text));
    const around = 'providers: []\nmodels: []\nworkspaces: [{ id: search }, { id: ads }]\n';
    const file = fileOf(around + text) as unknown as Record<string, unknown>;
    expect(members.length).toBeGreaterThan(0);
    for (const member of members) expect(file[member]).toEqual(parse(text)[member]);
  },
);

it('every model of the demo is in the list, with prices and features', () => {
  const models = knownProviders.flatMap(({ models }) => models);
  const text = JSON.stringify({ providers: knownProviders.map(({ provider }) => provider), models });
  const { document, issues } = completeCatalogue(fileOf(text), { former: undefined, list, region: undefined, nowMs });
  expect(issues).toEqual([]);
  for (const { providers } of document.models) expect(providers[0]?.input_price_per_million).not.toBe('0.00');
});

it('a stored price that is not that of the list is a difference, and the list can be taken over', () => {
  const text =
    'providers: [{ id: openai, kind: openai }]\nmodels: [{ id: openai/gpt-5, providers: [{ provider: openai, input_price_per_million: "9" }] }]';
  const { document } = completeCatalogue(fileOf(text), { former: undefined, list, region: undefined, nowMs });
  expect(listDifferences(document, list)).toEqual([
    {
      model: 'openai/gpt-5',
      provider: 'openai',
      member: 'input_price_per_million',
      stored: '9',
      listed: '1.25',
      isWritten: true,
    },
  ]);
  const updated = withListValues(document, list, () => true);
  expect(listDifferences(updated, list)).toEqual([]);
  expect(updated.models[0]?.providers[0]).toMatchObject({ input_price_per_million: '1.25', written: [] });
});
