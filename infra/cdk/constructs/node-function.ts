// Defines a Lambda function with the defaults of this project, a log group and a role of its own. The role may write to
// that log group, and to nothing else until access is granted.
import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { environmentNames } from '../../../shared/foundation/constants/index.ts';
import type { StageSettings } from '../settings-schema.ts';
import type { Access } from './access.ts';
import { encryptedWith } from './encryption-key.ts';

export interface LongLogs {
  readonly retentionDays: number;
  readonly removalPolicy: RemovalPolicy;
}

/** Creates a log group. The log group is deleted with its stack, unless `kept` sets another policy. */
export const stageLogGroup = (
  scope: Construct,
  id: string,
  settings: StageSettings,
  { logGroupName, longLogs }: { readonly logGroupName?: string; readonly longLogs?: LongLogs | undefined } = {},
): LogGroup =>
  new LogGroup(scope, id, {
    retention: longLogs?.retentionDays ?? settings.logRetentionDays,
    ...encryptedWith(scope, settings),
    removalPolicy: longLogs?.removalPolicy ?? RemovalPolicy.DESTROY,
    ...(logGroupName === undefined ? {} : { logGroupName }),
  });

function executionRole(scope: Construct, ...logGroups: readonly LogGroup[]): Role {
  const role = new Role(scope, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  for (const logGroup of logGroups) logGroup.grantWrite(role);
  return role;
}

interface NodeFunctionProps {
  readonly stage: string;
  readonly settings: StageSettings;
  /** Folder with an `index` file that exports `handler`. It is uploaded as it is. */
  readonly codeFolder: string;
  readonly description: string;
  readonly timeoutSeconds: number;
  /** Reserved concurrency; null or absent for the account's shared concurrency. */
  readonly reservedConcurrency?: number | null;
  /**
   * Settings of the log group. By default the log group has the settings of the stage, and is deleted with the stage.
   */
  readonly logs?: LongLogs;
  readonly overrides?: Partial<lambda.FunctionProps>;
}

export class NodeFunction extends Construct {
  readonly function: lambda.Function;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: NodeFunctionProps) {
    super(scope, id);
    const { stage, settings, codeFolder, description, timeoutSeconds, reservedConcurrency, logs, overrides } = props;
    this.logGroup = stageLogGroup(this, 'Logs', settings, { longLogs: logs });
    this.function = new lambda.Function(this, 'Function', {
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      memorySize: settings.memoryMb,
      timeout: Duration.seconds(timeoutSeconds),
      code: lambda.Code.fromAsset(codeFolder),
      handler: 'index.handler',
      description,
      role: executionRole(this, this.logGroup),
      logGroup: this.logGroup,
      loggingFormat: lambda.LoggingFormat.JSON,
      systemLogLevelV2: lambda.SystemLogLevel[settings.systemLogLevel],
      // Old versions are retained, because a version that is no longer called still ends its running calls. The version
      // of a deployment that was rolled back is removed, because Lambda makes no second version of the same code, and
      // the code could not be deployed again.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
      ...(reservedConcurrency == null ? {} : { reservedConcurrentExecutions: reservedConcurrency }),
      ...overrides,
    });
    this.function.addEnvironment(environmentNames.stage, stage);
  }

  grant({ statements, environment = {}, acknowledgements = [] }: Access): void {
    for (const statement of statements) this.function.addToRolePolicy(new PolicyStatement(statement));
    for (const [name, value] of Object.entries(environment)) this.function.addEnvironment(name, value);
    if (acknowledgements.length > 0) Validations.of(this).acknowledge(...acknowledgements);
  }
}

/** Adds a URL without IAM authentication, because the gateway checks the Bearer key of every request. */
export function addPublicUrl(alias: lambda.Alias, invokeMode: lambda.InvokeMode): lambda.FunctionUrl {
  const url = alias.addFunctionUrl({ authType: lambda.FunctionUrlAuthType.NONE, invokeMode });
  // A URL created before its two permissions has been seen to answer 403 permanently.
  for (const permission of ['invoke-function-url', 'invoke-function']) {
    url.node.addDependency(alias.node.findChild(permission));
  }
  return url;
}
