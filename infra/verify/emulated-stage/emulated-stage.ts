// The whole life of a stage in an emulated AWS (MiniStack), with the commands that an operator types. What the emulator
// does not do is said beside the result.
import { join } from 'node:path';
import { PutBucketTaggingCommand } from '@aws-sdk/client-s3';
import { apiStackName, dataStackName } from '../../cdk/resource-names.ts';
import { startSimulator } from '../../local/simulator/index.ts';
import { ministackRequirement, startEmulator } from '../emulator.ts';
import { expectThat } from '../smoke/smoke-client.ts';
import { pythonProgram, type Step } from '../verify-step.ts';
import { account, region } from './emulated-account.ts';
import { createOperator, type Operator } from './operator-commands.ts';
import { copyProject, failingDeployment, type ProjectCopy } from './project-copy.ts';

const weaker =
  'weaker than AWS: streams are buffered, IAM and templates hardly checked; no import, TTL, encryption, throughput limits, bucket lifecycle, frozen processes';

const preload = join(import.meta.dirname, 'lambda-globals.cjs');

export const emulatedStage: Step = {
  name: 'stage',
  async run() {
    const program = await pythonProgram(ministackRequirement, 'ministack');
    const variablesOf = (port: number) => ({
      GATEWAY_PORT: String(port),
      LOG_LEVEL: 'WARNING',
      NODE_OPTIONS: `--require=${preload}`,
    });
    const emulator = await startEmulator({ program, variablesOf });
    const simulator = await startSimulator({ paceMs: 0 });
    const project = copyProject();
    try {
      const operator = createOperator({ emulatorUrl: emulator.url, project, simulator });
      await operator.bootstrap(`aws://${account}/${region}`);
      await liveDisposably(operator, project);
      await liveProtected(operator, project);
      return `deployed, called, changed, destroyed and deployed again, with and without CloudFront; protected and retained (${weaker})`;
    } finally {
      project.remove();
      await simulator.stop();
      await emulator.stop();
    }
  },
};

// From the first deployment to the last, once for a stage whose data may go and once for one that keeps them. The emulator
// cannot import a bucket or a global table, so adopting what the second left behind is not shown here.
const changedMemoryMb = 1_024;

async function liveDisposably(operator: Operator, project: ProjectCopy): Promise<void> {
  await operator.deploy('dev');
  const key = await operator.configure('dev');
  await operator.smoke('dev', key);
  const { url } = await operator.readFunction('dev');
  const direct = await operator.send(`${url}v1/models`);
  expectThat(direct.status === 404, `the function's own URL answered ${direct.status} without the origin secret`);

  const unchanged = await operator.deploy('dev');
  expectThat(unchanged.match(/\(no changes\)/g)?.length === 2, 'a second deployment changed something');

  project.writeSettings({ dev: { memoryMb: changedMemoryMb, edge: 'none' } });
  await operator.deploy('dev');
  const changed = await operator.readFunction('dev');
  expectThat(changed.memoryMb === changedMemoryMb, `the memory is ${changed.memoryMb} MB after the change`);
  const { BaseUrl: baseUrl = '' } = (await operator.readStack(apiStackName('dev'))).outputs;
  expectThat(baseUrl.startsWith(changed.url), `without a distribution the base URL is ${baseUrl}`);
  // With the key that was made before: the tables are the same.
  await operator.smoke('dev', key);

  await tagBucket(operator);
  await operator.destroy('dev');
  expectThat((await operator.tables('dev')).length === 0, 'destroying left tables behind');
  await operator.deploy('dev');
  await operator.smoke('dev', await operator.configure('dev'));
}

/** A bucket that is not empty cannot be deleted, unless the stage empties it. */
async function tagBucket({ s3, readStack }: Operator): Promise<void> {
  const { SpillBucketName: Bucket } = (await readStack(dataStackName('dev'))).outputs;
  // The emulator drops the tags of a bucket in a template, and CDK's function empties only buckets with this one.
  const TagSet = [{ Key: 'aws-cdk:auto-delete-objects', Value: 'true' }];
  await s3.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet } }));
}

async function liveProtected(operator: Operator, project: ProjectCopy): Promise<void> {
  const hasTables = async () => (await operator.tables('prod')).length > 0;
  // The emulator's quota of concurrent executions depends on this machine.
  // It has no CodeDeploy either.
  const concurrency = { gatewayReservedConcurrency: 5, modelsReservedConcurrency: 2, canary: null };
  project.writeSettings({ prod: concurrency });
  const failed = await operator.tryDeploy('prod', failingDeployment);
  expectThat(failed.output.includes('cdk says why'), `a resource that cannot be created: ${failed.output.slice(-500)}`);
  expectThat(!(await hasTables()), 'a failed first deployment left tables behind');

  await operator.deploy('prod');
  const { stack } = await operator.readStack(dataStackName('prod'));
  expectThat(stack?.EnableTerminationProtection === true, 'the data stack is not protected after its first success');
  const key = await operator.configure('prod');
  await operator.smoke('prod', key);
  await operator.tryDestroy('prod');
  expectThat((await operator.readStack(dataStackName('prod'))).stack !== undefined, 'a protected stack was destroyed');

  project.writeSettings({ prod: { ...concurrency, terminationProtection: false } });
  await operator.deploy('prod');
  await operator.destroy('prod');
  expectThat(await hasTables(), 'destroying a stage that retains took its tables');
  const blocked = await operator.tryDeploy('prod');
  const command = 'npm run deploy -- --stage prod --adopt';
  expectThat(
    blocked.output.includes('table gw-prod-keys') && blocked.output.includes(command),
    blocked.output.slice(-500),
  );
  expectThat(await hasTables(), 'a deployment that failed took existing tables');
}
