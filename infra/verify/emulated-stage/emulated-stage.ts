// Runs the complete life of a stage in an emulated AWS (MiniStack), with the commands that an operator types. Comments
// next to the result name the gaps of the emulator.
import { join } from 'node:path';
import { RestoreTableToPointInTimeCommand } from '@aws-sdk/client-dynamodb';
import { PutBucketTaggingCommand } from '@aws-sdk/client-s3';
import { headerNames, tableNames, tableNaming, unrecoveredTables } from '../../../shared/foundation/constants/index.ts';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import { apiStackName, dataStackName } from '../../cdk/resource-names.ts';
import type { StageSettings } from '../../cdk/settings-schema.ts';
import { startSimulator } from '../../local/simulator/index.ts';
import { ministackRequirement, startEmulator } from '../emulator.ts';
import { expectThat } from '../smoke/smoke-client.ts';
import { pythonProgram, type VerifyStep } from '../verify-step.ts';
import { account, otherRegion, region } from './emulated-account.ts';
import { createOperator, type OperatorCommands } from './operator-commands.ts';
import { copyProject, failingDeployment, type ProjectCopy } from './project-copy.ts';
import { models } from './stage-file.ts';

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

// Runs the life of a stage whose data may be lost, from the first deployment to the last.
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
  const changedStage = await operator.readFunction('dev');
  expectThat(changedStage.memoryMb === changedMemoryMb, `the memory is ${changedStage.memoryMb} MB after the change`);
  const { BaseUrl: baseUrl = '' } = (await operator.readStack(apiStackName('dev'))).outputs;
  expectThat(baseUrl.startsWith(changedStage.url), `without a distribution the base URL is ${baseUrl}`);
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
 * Deploys another stage, as after the loss of a region, when the former stage of the same name still uses the names
 * that are unique in an account.
 */
async function liveBeside(operator: OperatorCommands): Promise<void> {
  await operator.deploy('dev');
  await operator.smoke('dev', await operator.configure('dev'));
}

/** Tags the bucket, because a bucket that is not empty can be deleted only if the stage empties it. */
async function tagBucket({ s3, readStack }: OperatorCommands): Promise<void> {
  const { SpillBucketName: Bucket } = (await readStack(dataStackName('dev'))).outputs;
  // The emulator drops the tags of a bucket in a template, and CDK's function empties only buckets with this tag.
  const TagSet = [{ Key: 'aws-cdk:auto-delete-objects', Value: 'true' }];
  await s3.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet } }));
}

// Runs a stage that retains its data, with an operator's commands. The run begins with a failed first deployment and
// ends with restored tables.

const stage = 'prod';
/** The emulator's quota of concurrent executions depends on this machine. */
const settings: Partial<StageSettings> = {
  gatewayReservedConcurrency: 5,
  modelsReservedConcurrency: 2,
  terminationProtection: false,
};
const protectedSettings = { ...settings, terminationProtection: true };

/** Returns a line about the calls that were counted. */
async function liveProtected(operator: OperatorCommands, project: ProjectCopy): Promise<string> {
  const key = await deployFirst(operator, project);
  const line = await changeSecret(operator, project, { stage, settings: protectedSettings, key });
  await operator.tryDestroy(stage);
  expectThat((await operator.readStack(dataStackName(stage))).stack !== undefined, 'a protected stack was destroyed');
  const adopted = await adopt(operator, project, key);
  await restore(operator, project, { key, adopted });
  return line;
}

/** Returns the API key. */
async function deployFirst(operator: OperatorCommands, project: ProjectCopy): Promise<string> {
  project.writeSettings({ [stage]: protectedSettings });
  const failed = await operator.tryDeploy(stage, failingDeployment);
  expectThat(failed.output.includes('cdk says why'), `a resource that cannot be created: ${failed.output.slice(-500)}`);
  expectThat((await operator.tables(stage)).length === 0, 'a failed first deployment left tables behind');

  await operator.deploy(stage);
  const { stack } = await operator.readStack(dataStackName(stage));
  expectThat(stack?.EnableTerminationProtection === true, 'the data stack is not protected after its first success');
  const key = await operator.configure(stage);
  await operator.smoke(stage, key);
  return key;
}

/**
 * Destroys the stage and adopts its retained resources, as the refusal of the next deployment advises. Returns the
 * settings for it.
 */
async function adopt(operator: OperatorCommands, project: ProjectCopy, key: string): Promise<Partial<StageSettings>> {
  project.writeSettings({ [stage]: settings });
  await operator.deploy(stage);
  await operator.destroy(stage);
  expectThat(
    (await operator.tables(stage)).length === tableNames.length,
    'destroying a stage that retains took tables',
  );
  const { output: refusal } = await operator.tryDeploy(stage);
  const [, keyArn = null, secretArn = null] = /adopt: \{ keyArn: '(\S+)', secretArn: '(\S+)' \}/.exec(refusal) ?? [];
  const isNamed = refusal.includes(`table gw-${stage}-keys`) && keyArn !== null && secretArn !== null;
  expectThat(isNamed && refusal.includes(`npm run deploy -- --stage ${stage} --adopt`), refusal.slice(-900));

  const adopted = { ...settings, adopt: { keyArn, secretArn } };
  project.writeSettings({ [stage]: adopted });
  await operator.deploy(stage, '--adopt');
  // Uses the former credential, encrypted key and API key.
  await operator.smoke(stage, key);
  return adopted;
}

const suffix = '-then';
const restored = tableNames.filter((table) => !unrecoveredTables.has(table));

/**
 * Follows the steps of guides/restoring.md. The emulator restores the present, so the change to undo is made after the
 * tables were copied.
 */
async function restore(
  operator: OperatorCommands,
  project: ProjectCopy,
  { key, adopted }: { readonly key: string; readonly adopted: Partial<StageSettings> },
): Promise<void> {
  const { dynamo } = operator;
  const gateway = (...args: string[]) => operator.gateway(stage, ...args);
  const output = await gateway('keys', 'create', '--workspace', 'team', '--name', 'later');
  const [later = '', publicId = ''] = /sk-gw-(\w+)-\w+/.exec(output) ?? [];
  const [nameNow, then] = [tableNaming(stage), tableNaming(stage, suffix)];
  for (const table of restored) {
    await dynamo.send(
      new RestoreTableToPointInTimeCommand({
        SourceTableName: nameNow(table),
        TargetTableName: then(table),
        UseLatestRestorableTime: true,
      }),
    );
  }
  await gateway('keys', 'revoke', publicId, '--yes');
  await gateway('pause', '--yes');
  await operator.expectStatus(stage, key, 503, 'a paused stage does not refuse calls');

  project.writeSettings({ [stage]: { ...adopted, tableSuffix: suffix } });
  const reconciliation = await gateway('keys', 'reconcile', '--from', 'none');
  expectThat(reconciliation.includes('key later of team'), `reconciling named ${reconciliation}`);
  await operator.deploy(stage);
  await operator.smoke(stage, key);
  expectThat((await operator.tables(stage)).length === tableNames.length + restored.length, 'former tables are gone');
  await operator.expectStatus(stage, later, 401, 'a key that was revoked works after a restoration');

  project.writeSettings({ [stage]: adopted });
  await operator.deploy(stage, '--adopt');
  await operator.expectStatus(stage, key, 503, 'the former tables are not those that were paused');
  await gateway('resume');
  await operator.expectStatus(stage, key, 200, 'a resumed stage refuses calls');
  await operator.smoke(stage, key);
}

// Changes the origin secret, and the distribution itself, while clients call. Every call is counted, at the former and
// at the new address.

const pauseMs = 250;

interface CountedCalls {
  /** Counts calls at a base URL from now on, as the distribution makes them if it has a secret. */
  at(baseUrl: string, secret?: string): void;
  /** Resolves with a line about the calls, once all calls have answers. Rejects if a call was refused. */
  end(): Promise<string>;
}

function countCalls({ send }: Pick<OperatorCommands, 'send'>, apiKey: string): CountedCalls {
  const refusals: string[] = [];
  let [servedCount, isOver] = [0, false];
  const loops: Promise<void>[] = [];
  const chat = JSON.stringify({ model: models.withCredential, messages: [{ role: 'user', content: 'Hello' }] });

  async function callOn(baseUrl: string, secret: string | undefined): Promise<void> {
    const originHeader = secret === undefined ? {} : { [headerNames.originSecret]: secret };
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...originHeader };
    while (!isOver) {
      const requests = [
        ['/models', {}],
        ['/chat/completions', { method: 'POST', body: chat }],
      ] as const;
      for (const [path, init] of requests) {
        const answer = await send(`${baseUrl}${path}`, { ...init, headers }).catch((error: Error) => error);
        if (answer instanceof Response && answer.status === 200) servedCount += 1;
        else refusals.push(`${path} at ${baseUrl}: ${answer instanceof Response ? answer.status : answer.message}`);
      }
      await sleep(systemClock, pauseMs);
    }
  }

  return {
    at: (baseUrl, secret) => void loops.push(callOn(baseUrl, secret)),
    async end() {
      isOver = true;
      await Promise.all(loops);
      expectThat(servedCount > 0, 'no call was made');
      expectThat(
        refusals.length === 0,
        `${refusals.length} of ${servedCount + refusals.length} calls were refused: ${refusals[0]}`,
      );
      return `${servedCount} calls, 0 refused`;
    },
  };
}

/**
 * Changes the origin secret in two deployments, and back in two more. Both functions are also called without the
 * distribution, with the secret that is sent at first. The other stages of the settings stay as they are.
 */
async function changeSecret(
  operator: OperatorCommands,
  project: ProjectCopy,
  { stage, settings, key }: { readonly stage: string; readonly settings: Partial<StageSettings>; readonly key: string },
): Promise<string> {
  const { outputs } = await operator.readStack(apiStackName(stage));
  const { BaseUrl: baseUrl = '', DirectUrl: directUrl = '' } = outputs;
  const versions = await operator.versions(stage);
  const calls = countCalls(operator, key);
  calls.at(baseUrl);
  calls.at(`${directUrl}v1`, await operator.readSecret(outputs.OriginSecretArn));
  project.writeSettings({ [stage]: { ...settings, originSecrets: [2] } });
  const first = await operator.deploy(stage);
  expectThat(
    first.includes('origin secret 1 is still accepted'),
    `the second deployment is not named: ${first.slice(-300)}`,
  );
  const outputsAfter = (await operator.readStack(apiStackName(stage))).outputs;
  calls.at(`${directUrl}v1`, await operator.readSecret(outputsAfter.OriginSecretArn));
  await sleep(systemClock, pauseMs);
  const line = await calls.end();
  await operator.deploy(stage);
  await operator.smoke(stage, key);
  const now = await operator.versions(stage);
  expectThat(now.join() === versions.join(), `the versions are ${now} after ${versions}`);
  return line;
}

/** Puts CloudFront in front of a stage that is called by its function's own URL, in two deployments. */
async function putInFront(
  operator: OperatorCommands,
  project: ProjectCopy,
  { stage, settings, key }: { readonly stage: string; readonly settings: Partial<StageSettings>; readonly key: string },
): Promise<string> {
  const { BaseUrl: formerUrl = '' } = (await operator.readStack(apiStackName(stage))).outputs;
  const calls = countCalls(operator, key);
  calls.at(formerUrl);
  project.writeSettings({ [stage]: { ...settings, edge: 'cloudfront' } });
  await operator.deploy(stage);
  const { BaseUrl: baseUrl = '' } = (await operator.readStack(apiStackName(stage))).outputs;
  expectThat(baseUrl !== formerUrl, `the base URL is still ${baseUrl}`);
  calls.at(baseUrl);
  await operator.smoke(stage, key);
  const line = await calls.end();
  await operator.deploy(stage);
  await operator.smoke(stage, key);
  return line;
}
