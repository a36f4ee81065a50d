// The very bundles that are uploaded, under Lambda's runtime client, offline. It is no test of `npm test`: the client is
// compiled as it is installed.
import { join } from 'node:path';
import { environmentNames } from '../../../shared/foundation/constants/index.ts';
import { buildBundles } from '../../build/bundle.ts';
import { projectRoot, Skipped, type Step } from '../verify-step.ts';
import { prepareStage } from './prepare-stage.ts';
import { findRuntimeClient } from './runtime-client.ts';
import { scenarios } from './scenarios.ts';
import { type RunningFunction, startFunction } from './start-function.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);

export const runtime: Step = {
  name: 'runtime',
  async run() {
    const client = await findRuntimeClient(say);
    if (client.kind === 'absent') throw new Skipped(`Lambda's runtime client is not here, as ${client.reason}`);
    await buildBundles(projectRoot, join(projectRoot, 'dist'));
    const prepared = await prepareStage(say);
    const { bucket } = prepared;
    const variables = { [environmentNames.spillBucket]: bucket.name, AWS_ENDPOINT_URL_S3: bucket.endpoint };
    const functions = new Map<string, RunningFunction>();
    try {
      for (const { title, bundle, run } of scenarios) {
        const known = functions.get(bundle);
        const target = known ?? (await startFunction({ name: bundle, client: client.main, ...prepared, variables }));
        functions.set(bundle, target);
        const failed = (what: unknown) => new Error(`${title}: ${what}\n${target.output().trimEnd()}`);
        await run(target, prepared).catch((error: unknown) => Promise.reject(failed(error)));
        if (!target.isAlive()) throw failed('the process has ended');
      }
      return `${scenarios.length} scenarios: JSON, streams, errors, a cut stream, a result in a bucket`;
    } finally {
      for (const target of functions.values()) await target.stop();
      await prepared.stop();
    }
  },
};
