// `npm run test:runtime`: the very bundles that are uploaded, under Lambda's runtime client, offline. Not part of
// `npm test`: the client is compiled as it is installed. Where that is impossible it says so in one line and succeeds.
import { join, resolve } from 'node:path';
import { environmentNames } from '../../../shared/foundation/constants/index.ts';
import { buildBundles } from '../bundle.ts';
import { prepareStage } from './prepare-stage.ts';
import { findRuntimeClient } from './runtime-client.ts';
import { scenarios } from './scenarios.ts';
import { type RunningFunction, startFunction } from './start-function.ts';

const projectRoot = resolve(import.meta.dirname, '../../..');
const say = (line: string) => process.stdout.write(`${line}\n`);

const client = await findRuntimeClient(say);
if (client.kind === 'absent') say(`skipped: Lambda's runtime client is not here, as ${client.reason}`);
else process.exitCode = await runAll(client.main);

async function runAll(main: string): Promise<number> {
  await buildBundles(projectRoot, join(projectRoot, 'dist'));
  const prepared = await prepareStage(say);
  const { bucket } = prepared;
  const variables = { [environmentNames.spillBucket]: bucket.name, AWS_ENDPOINT_URL_S3: bucket.endpoint };
  const functions = new Map<string, RunningFunction>();
  let failures = 0;
  try {
    for (const { title, bundle, run } of scenarios) {
      const known = functions.get(bundle);
      const target = known ?? (await startFunction({ name: bundle, client: main, ...prepared, variables }));
      functions.set(bundle, target);
      try {
        const note = await run(target, prepared);
        if (!target.isAlive()) throw new Error('the process has ended');
        say(`ok    ${title} (${note})`);
      } catch (error) {
        failures += 1;
        say(`FAILS ${title}: ${error instanceof Error ? error.message : error}`);
        say(target.output().trimEnd());
      }
    }
  } finally {
    for (const target of functions.values()) await target.stop();
    await prepared.stop();
  }
  say(failures === 0 ? `${scenarios.length} hold under the runtime client` : `${failures} of ${scenarios.length} fail`);
  return failures === 0 ? 0 : 1;
}
