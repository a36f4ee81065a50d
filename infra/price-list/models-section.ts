// From the words of a line to the section it asks for.
import { parseArgs } from 'node:util';
import { findProvider } from '@pydantic/genai-prices';
import { readPriceList } from './read-price-list.ts';
import { writeModelsSection } from './write-models-section.ts';

export const usage =
  'npm run --silent models -- PROVIDER [--as ID] [--only TEXT,TEXT] [--region PREFIX]\n' +
  'prints the models section of a gateway file for a provider of the price list (anthropic, aws, google, openai, groq, …)\n' +
  '  --as ID          the id of the provider in the gateway file; default PROVIDER\n' +
  '  --only TEXT,…    only models whose id holds one of these\n' +
  '  --region PREFIX  of Amazon Bedrock: eu, us, apac, …';

/** Where the prices come from: the package and its version. */
export function modelsSection(args: readonly string[], packageName: string, nowMs: number): string {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { as: { type: 'string' }, only: { type: 'string' }, region: { type: 'string' } },
  });
  const [name, ...others] = positionals;
  if (name === undefined || others.length > 0) throw new Error('say one provider');
  const provider = findProvider({ providerId: name });
  if (provider === undefined) throw new Error(`the price list has no provider ${JSON.stringify(name)}`);
  const id = values.as ?? provider.id;
  if (!/^[a-z0-9][a-z0-9._-]{0,63}$/.test(id)) throw new Error('--as is the id of a provider in the gateway file');
  if (!/^[a-z-]{1,16}$/.test(values.region ?? 'eu')) throw new Error('--region is a prefix such as eu');
  const wanted = (values.only ?? '').split(',').filter((text) => text !== '');
  const isWanted = (model: { readonly id: string }) =>
    wanted.length === 0 || wanted.some((text) => model.id.includes(text));
  const list = readPriceList({ models: provider.models.filter(isWanted) }, nowMs);
  if (list.models.length === 0) throw new Error(`no model of ${provider.id} in the price list can be written`);
  const source = [
    `${provider.name}, by ${packageName}. Compare with ${provider.pricing_urls?.join(', ') ?? 'the prices of the provider'}`,
    'What is marked "check" is not known, or not certain.',
  ];
  return writeModelsSection(list, { source, provider: id, region: values.region });
}
