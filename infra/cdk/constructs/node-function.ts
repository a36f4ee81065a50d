// The house Lambda: defaults first, what a caller passes last. It owns its log group and its role, and is allowed
// nothing but writing to that log group until it is given access.
import { Duration, Validations } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { environmentNames, lambdaTimeoutSeconds } from '../../../shared/foundation/constants/index.ts';
import type { StageSettings } from '../stage-settings.ts';
import type { Access } from './access.ts';
import { ownLogs, ownRole } from './own-role.ts';

export interface NodeFunctionProps {
  readonly stage: string;
  readonly settings: StageSettings;
  /** Folder with an `index` file that exports `handler`: uploaded as it is, never built here. */
  readonly codeFolder: string;
  readonly description: string;
  /** Null or left out: the account's pool. */
  readonly reservedConcurrency?: number | null;
  readonly overrides?: Partial<lambda.FunctionProps>;
}

export class NodeFunction extends Construct {
  readonly function: lambda.Function;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: NodeFunctionProps) {
    super(scope, id);
    this.logGroup = ownLogs(this, props.settings);
    this.function = new lambda.Function(this, 'Function', {
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      memorySize: props.settings.memoryMb,
      timeout: Duration.seconds(lambdaTimeoutSeconds),
      code: lambda.Code.fromAsset(props.codeFolder),
      handler: 'index.handler',
      description: props.description,
      role: ownRole(this, this.logGroup),
      logGroup: this.logGroup,
      loggingFormat: lambda.LoggingFormat.JSON,
      systemLogLevelV2: lambda.SystemLogLevel.WARN,
      ...(props.reservedConcurrency == null ? {} : { reservedConcurrentExecutions: props.reservedConcurrency }),
      ...props.overrides,
    });
    this.function.addEnvironment(environmentNames.stage, props.stage);
  }

  give({ statements, environment = {}, acknowledgements = [] }: Access): void {
    for (const statement of statements) this.function.addToRolePolicy(new PolicyStatement(statement));
    for (const [name, value] of Object.entries(environment)) this.function.addEnvironment(name, value);
    if (acknowledgements.length > 0) Validations.of(this).acknowledge(...acknowledgements);
  }

  /** A public URL: whoever calls it shows a Bearer key, which the gateway checks. Grants both permissions it needs. */
  openUrl(invokeMode: lambda.InvokeMode): lambda.FunctionUrl {
    const url = this.function.addFunctionUrl({ authType: lambda.FunctionUrlAuthType.NONE, invokeMode });
    // A URL that exists before its permissions has been seen to answer 403 for good.
    for (const permission of ['invoke-function-url', 'invoke-function']) {
      url.node.addDependency(this.function.node.findChild(permission));
    }
    return url;
  }
}
