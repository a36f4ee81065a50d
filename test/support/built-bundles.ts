// The bundles of the project, which are built once for all test files of a run, in its folder.
import { join } from 'node:path';
import { buildBundles } from '../../infra/build/bundle.ts';
import { builtOnce } from './built-once.ts';
import { projectRoot } from './gateway-process.ts';
import { runFolder } from './temporary-folder.ts';

export type Bundle = Awaited<ReturnType<typeof buildBundles>>[number];
export type BundleName = Bundle['name'];

export interface BuiltBundles {
  readonly output: string;
  readonly bundles: readonly Bundle[];
}

export const builtBundles = (): Promise<BuiltBundles> =>
  builtOnce('bundles', async () => {
    const output = join(runFolder(), 'bundles');
    return { output, bundles: await buildBundles(projectRoot, output) };
  });

/** Returns the code file of a bundle. */
export async function builtBundle(name: BundleName): Promise<string> {
  const { bundles } = await builtBundles();
  return bundles.find((bundle) => bundle.name === name)?.file ?? '';
}
