// The whole life of a stage in an emulated AWS (MiniStack), with the commands that an operator types. Gaps of the
// emulator are noted beside the result.
import { join } from 'node:path';
import { PutBucketTaggingCommand } from '@aws-sdk/client-s3';
import { apiStackName, dataStackName } from '../../cdk/resource-names.ts';
import { startSimulator } from '../../local/simulator/index.ts';
import { ministackRequirement, startEmulator } from '../emulator.ts';
import { expectThat } from '../smoke/smoke-client.ts';
import { pythonProgram, type VerifyStep } from '../verify-step.ts';
import { changeSecret, putInFront } from './changed-origin.ts';
import { account, otherRegion, region } from './emulated-account.ts';
import { createOperator, type OperatorCommands } from './operator-commands.ts';
import { copyProject, type ProjectCopy } from './project-copy.ts';
import { liveProtected } from './protected-stage.ts';

const weaker =
  'weaker than AWS: streams are buffered, IAM and templates hardly checked, versions take over at once; no expiry, encryption, throughput limits, bucket lifecycle, frozen processes';

const preload = join(import.meta.dirname, 'lambda-globals.cjs');
const pythonPath = join(import.meta.dirname, 'python');

export const emulatedStage: VerifyStep = {
  name: 'stage',
  async run() {
    const program = await pythonProgram(ministackRequirement, 'ministack');
    const variablesOf = (port: number) => ({
      GATEWAY_PORT: String(port),
      LOG_LEVEL: 'WARNING',
      NODE_OPTIONS: `--require=${preload}`,
      PYTHONPATH: pythonPath,
    });
    const emulator = await startEmulator({ program, variablesOf });
    const simulator = await startSimulator({ paceMs: 0 });
    const project = copyProject();
    try {
      const operatorIn = async (inRegion: string) => {
        const operator = createOperator({ emulatorUrl: emulator.url, region: inRegion, project, simulator });
        await operator.bootstrap(`aws://${account}/${inRegion}`);
        return operator;
      };
      const operator = await operatorIn(region);
      const counted = [...(await liveDisposably(operator, project)), await liveProtected(operator, project)];
      await liveBeside(await operatorIn(otherRegion));
      return `deployed, called, changed, destroyed and deployed again, with and without CloudFront; CloudFront put in front, another origin secret without and with \`canary\`, while clients called: ${counted.join(', ')}; protected, destroyed and adopted, put on restored tables and back; in a second region beside the first (${weaker})`;
    } finally {
      project.remove();
      await simulator.stop();
      await emulator.stop();
    }
  },
};

// From the first deployment to the last, of a stage whose data may go.
const changedMemoryMb = 1_024;

/** Returns lines about the calls that were counted. */
async function liveDisposably(operator: OperatorCommands, project: ProjectCopy): Promise<string[]> {
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
  // The former key still works, because the tables are the same.
  await operator.smoke('dev', key);
  const change = { stage: 'dev', settings: { memoryMb: changedMemoryMb }, key };
  const counted = [await putInFront(operator, project, change), await changeSecret(operator, project, change)];

  await tagBucket(operator);
  await operator.destroy('dev');
  expectThat((await operator.tables('dev')).length === 0, 'destroying left tables behind');
  await operator.deploy('dev');
  await operator.smoke('dev', await operator.configure('dev'));
  return counted;
}

/**
 * As after the loss of a region: the former stage of the same name still has the names that are unique in an account.
 */
async function liveBeside(operator: OperatorCommands): Promise<void> {
  await operator.deploy('dev');
  await operator.smoke('dev', await operator.configure('dev'));
}

/** A bucket that is not empty cannot be deleted, unless the stage empties it. */
async function tagBucket({ s3, readStack }: OperatorCommands): Promise<void> {
  const { SpillBucketName: Bucket } = (await readStack(dataStackName('dev'))).outputs;
  // The emulator drops the tags of a bucket in a template, and CDK's function empties only buckets with this one.
  const TagSet = [{ Key: 'aws-cdk:auto-delete-objects', Value: 'true' }];
  await s3.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet } }));
}
