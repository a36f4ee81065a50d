// The options of `cdk deploy`, as the installed CDK describes them itself.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export interface CdkOption {
  readonly takesValue: boolean;
  readonly short?: string;
}

interface DescribedOption {
  readonly type: 'string' | 'number' | 'array' | 'boolean' | 'count';
  readonly alias?: string | readonly string[];
}

interface Description {
  readonly globalOptions: Readonly<Record<string, DescribedOption>>;
  readonly commands: { readonly deploy: { readonly options: Readonly<Record<string, DescribedOption>> } };
}

/** By name, aliases of more than one letter included. */
export function readCdkOptions(): Readonly<Record<string, CdkOption>> {
  const cdk = dirname(createRequire(import.meta.url).resolve('aws-cdk/package.json'));
  const text = readFileSync(join(cdk, 'lib/cli/cli-type-registry.json'), 'utf8');
  const { globalOptions, commands } = JSON.parse(text) as Description;
  const known: Record<string, CdkOption> = {};
  for (const [name, { type, alias = [] }] of Object.entries({ ...globalOptions, ...commands.deploy.options })) {
    const takesValue = type !== 'boolean' && type !== 'count';
    const short = [alias].flat().find((one) => one.length === 1);
    known[name] = { takesValue, ...(short === undefined ? {} : { short }) };
    for (const other of [alias].flat()) if (other.length > 1) known[other] = { takesValue };
    if (type === 'boolean') known[`no-${name}`] = { takesValue: false };
  }
  return known;
}
