// Prints the least rights of an IAM identity with which every command works on a stage, as a policy document
// (`policy`). A single table lists the calls to AWS. A test runs every command and compares its calls with the table.
import {
  brand,
  contentPrefix,
  type NameTable,
  type TableName,
  tableNames,
  tableNaming,
} from '../../../shared/foundation/constants/index.ts';
import { rightsOf } from '../../cdk/constructs/table-actions.ts';
import {
  connectionKeyAlias,
  encryptionKeyActions,
  providerSecretName,
  spillBucketName,
} from '../../cdk/resource-names.ts';
import type { CommandLine } from '../args/command-line.ts';
import type { CommandOutcome, Session } from '../args/session.ts';
import { toJsonText } from '../output/format.ts';
import type { ShellAccount } from '../target/shell-access.ts';
import { requireStage, type StageTarget } from '../target/target.ts';

export function addPolicy(program: CommandLine): void {
  program
    .command('policy')
    .description('the IAM policy (JSON) that this command line needs on a stage')
    .notes('Asks STS for the account where the shell is signed in; reads and changes nothing else.')
    .does(policy);
}

/** DynamoDB calls on each table, apart from DescribeTable, which `status` makes on all tables. */
const tableActions: Readonly<Partial<Record<TableName, readonly string[]>>> = {
  config: ['GetItem', 'PutItem', 'Scan', 'UpdateItem'],
  keys: ['GetItem', 'PutItem', 'Scan', 'UpdateItem'],
  operators: ['GetItem', 'PutItem', 'Scan'],
  connections: ['GetItem', 'PutItem'],
  functions: ['GetItem', 'PutItem', 'Scan', 'UpdateItem'],
  ledger: ['GetItem', 'UpdateItem'],
  limits: ['GetItem'],
  statistics: ['GetItem'],
  records: ['GetItem', 'Query'],
};

export interface PolicyStatement {
  readonly Sid: string;
  readonly Effect: 'Allow';
  readonly Action: readonly string[];
  readonly Resource: readonly string[];
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
}

interface StagePlace {
  readonly account: ShellAccount;
  readonly region: string;
  readonly stage: string;
  readonly nameOf: NameTable;
  /** The key of the stage's settings that encrypts its stored data. */
  readonly encryptionKeyArn: string | undefined;
}

async function policy(session: Session): Promise<CommandOutcome> {
  const target = requireStage(session.target, 'a local store has no policies');
  const place = await findPlace(target, session.variables.AWS_REGION);
  if (place.account.id === anyPlace || place.region === anyPlace) {
    session.terminal.writeError('note: * stands for an account or a region that neither shell nor settings name');
  }
  const document = {
    Version: '2012-10-17',
    Statement: [
      ...tableStatements(place),
      ...sealingStatements(place),
      contentStatement(place),
      ...encryptionStatements(place),
    ],
  };
  return { json: document, lines: () => toJsonText(document).split('\n') };
}

/** Wildcard in an ARN of a policy. Identities reach only their own account, whatever the ARN contains. */
const anyPlace = '*';

/**
 * Finds account and region. A policy can be written without a sign-in to AWS. The command line and the settings may
 * then name account and region.
 */
async function findPlace(target: StageTarget, shellRegion: string | undefined): Promise<StagePlace> {
  // These modules are imported at this point, because they load SDK clients, which most commands do without.
  const { readAccount, signIn } = await import('../target/shell-access.ts');
  const { checkPlace } = await import('../../cdk/check-settings.ts');
  const { stageSettings } = await import('../../cdk/stage-settings.ts');
  const { stage } = target;
  const settings = stageSettings[stage];
  const known = {
    stage,
    nameOf: tableNaming(stage, settings?.tableSuffix),
    encryptionKeyArn: settings?.encryptionKeyArn,
  };
  const signedIn = await signIn(target)
    .then(async (access) => ({ account: await readAccount(access), region: access.region }))
    .catch(() => undefined);
  if (signedIn !== undefined) {
    const { account, region } = signedIn;
    if (settings !== undefined) checkPlace(stage, settings, { account: account.id, region });
    return { ...known, account, region };
  }
  const region = target.region ?? settings?.region ?? shellRegion ?? anyPlace;
  return { ...known, account: { partition: partitionOf(region), id: settings?.account ?? anyPlace }, region };
}

const partitionOf = (region: string): string =>
  region.startsWith('cn-') ? 'aws-cn' : region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws';

/** Returns the rights of a table. Simultaneous updates may be sent together, which is a right of its own. */
const tableRights = (action: string): string[] => rightsOf(action).map((right) => right.replace('dynamodb:', ''));

function tableStatements(place: StagePlace): PolicyStatement[] {
  const arnOf = (table: TableName) => arn(place, 'dynamodb', `table/${place.nameOf(table)}`);
  const byActions = Map.groupBy(tableNames, (table) => (tableActions[table] ?? []).join(' '));
  const statements = [...byActions].flatMap(([actions, tables]) =>
    actions === ''
      ? []
      : [allow(`${upper(tables)}Tables`, 'dynamodb', actions.split(' ').flatMap(tableRights), tables.map(arnOf))],
  );
  return [allow('DescribeTables', 'dynamodb', ['DescribeTable'], tableNames.map(arnOf)), ...statements];
}

/**
 * Returns rights on the provider credentials of the stage, and on the key that encrypts the keys of BYOK connections.
 */
function sealingStatements(place: StagePlace): PolicyStatement[] {
  const secret = arn(place, 'secretsmanager', `secret:${providerSecretName(place.stage)}-??????`);
  return [
    allow('ProviderCredentials', 'secretsmanager', ['GetSecretValue', 'PutSecretValue'], [secret]),
    {
      // The resource of a policy cannot be an alias, so a condition names the alias of the key.
      ...allow('ConnectionKey', 'kms', ['Decrypt', 'GenerateDataKey'], [arn(place, 'kms', 'key/*')]),
      Condition: { 'ForAnyValue:StringEquals': { 'kms:ResourceAliases': connectionKeyAlias(place.stage) } },
    },
  ];
}

/** Returns rights on the encryption key. Services ask KMS in the name of their caller. */
function encryptionStatements({ account, region, encryptionKeyArn }: StagePlace): PolicyStatement[] {
  if (encryptionKeyArn === undefined) return [];
  const suffix = account.partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com';
  const services = ['dynamodb', 's3', 'secretsmanager'].map((service) => `${service}.${region}.${suffix}`);
  return [
    {
      ...allow('EncryptionKey', 'kms', encryptionKeyActions, [encryptionKeyArn]),
      Condition: { StringLike: { 'kms:ViaService': services } },
    },
  ];
}

/**
 * Returns the right for `calls show --content`. ARNs of buckets have no account and region, so the name contains both.
 */
function contentStatement({ stage, account, region }: StagePlace): PolicyStatement {
  const bucket = spillBucketName(stage, account.id, region);
  return allow('Contents', 's3', ['GetObject'], [`arn:${account.partition}:s3:::${bucket}/${contentPrefix}*`]);
}

const allow = (name: string, service: string, actions: readonly string[], Resource: readonly string[]) =>
  ({
    Sid: `${upper([brand])}${name}`,
    Effect: 'Allow',
    Action: actions.map((action) => `${service}:${action}`),
    Resource,
  }) as const;

const arn = ({ account, region }: StagePlace, service: string, resource: string): string =>
  ['arn', account.partition, service, region, account.id, resource].join(':');

const upper = (words: readonly string[]): string =>
  words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
