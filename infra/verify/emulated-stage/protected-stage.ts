// A stage that retains, from a first deployment that fails to tables that were restored, with the commands that an operator types.
import { RestoreTableToPointInTimeCommand } from '@aws-sdk/client-dynamodb';
import { tableNames, tableNaming, unrecoveredTables } from '../../../shared/foundation/constants/index.ts';
import { dataStackName } from '../../cdk/resource-names.ts';
import type { StageSettings } from '../../cdk/settings-schema.ts';
import { expectThat } from '../smoke/smoke-client.ts';
import { changeSecret } from './changed-origin.ts';
import type { OperatorCommands } from './operator-commands.ts';
import { failingDeployment, type ProjectCopy } from './project-copy.ts';

const stage = 'prod';
/** The emulator's quota of concurrent executions depends on this machine. */
const settings: Partial<StageSettings> = {
  gatewayReservedConcurrency: 5,
  modelsReservedConcurrency: 2,
  terminationProtection: false,
};
const protectedSettings = { ...settings, terminationProtection: true };

/** Returns a line about the calls that were counted. */
export async function liveProtected(operator: OperatorCommands, project: ProjectCopy): Promise<string> {
  const key = await deployFirst(operator, project);
  const line = await changeSecret(operator, project, { stage, settings: protectedSettings, key });
  await operator.tryDestroy(stage);
  expectThat((await operator.readStack(dataStackName(stage))).stack !== undefined, 'a protected stack was destroyed');
  const adopted = await adopt(operator, project, key);
  await restore(operator, project, { key, adopted });
  return line;
}

/** Gives the API key. */
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
 * The steps of guides/restoring.md. The emulator restores the present, so the change to undo is made after its copy.
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
  const named = await gateway('keys', 'reconcile', '--from', 'none');
  expectThat(named.includes('key later of team'), `reconciling named ${named}`);
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
