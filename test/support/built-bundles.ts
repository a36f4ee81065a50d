// The bundles of the project, built once for all test files of a run: the first that asks builds them, in the folder of the run.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bundle, BundleName } from '../../infra/build/bundle.ts';
import { buildBundles } from '../../infra/build/bundle.ts';
import { projectRoot } from './gateway-process.ts';
import { runFolder } from './temporary-folder.ts';
import { eventually } from './watched-clock.ts';

export interface BuiltBundles {
  readonly output: string;
  readonly bundles: readonly Bundle[];
}

export async function builtBundles(): Promise<BuiltBundles> {
  const output = join(runFolder(), 'bundles');
  const report = `${output}.json`;
  const isFirst = mkdirSync(output, { recursive: true }) !== undefined;
  if (isFirst) {
    const built = await buildBundles(projectRoot, output).then(
      (bundles) => ({ bundles }),
      (error: Error) => ({ bundles: [], error: error.message }),
    );
    writeFileSync(`${report}.new`, JSON.stringify(built));
    renameSync(`${report}.new`, report);
  }
  await eventually(() => existsSync(report));
  const { bundles, error } = JSON.parse(readFileSync(report, 'utf8')) as BuiltBundles & { readonly error?: string };
  if (error !== undefined) throw new Error(error);
  return { output, bundles };
}

/** The code file of one of them. */
export async function builtBundle(name: BundleName): Promise<string> {
  const { bundles } = await builtBundles();
  return bundles.find((bundle) => bundle.name === name)?.file ?? '';
}
