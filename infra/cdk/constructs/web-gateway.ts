// The whole gateway as one Lambda Web Function: a plain HTTP server, many requests per environment, billed for active
// processor time instead of waiting. It serves both paths. Synthesized and tested as a template; never run on a live
// account: where its credentials come from and whether its endpoint resolves are open (README, section on AWS).
import { Duration, Stack, Validations } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { environmentNames, lambdaTimeoutSeconds } from '../../../shared/foundation/constants/index.ts';
import type { StageSettings } from '../stage-settings.ts';
import type { Access } from './access.ts';
import { ownLogs, ownRole } from './own-role.ts';

/** Requests of one environment at a time: what Lambda itself starts with. */
const requestsPerEnvironment = 64;

export interface WebGatewayProps {
  readonly stage: string;
  readonly settings: StageSettings;
  /** Folder with an `index.js` that binds AWS_LAMBDA_HTTP_ENDPOINT. */
  readonly codeFolder: string;
  readonly description: string;
  readonly access: Access;
}

export class WebGateway extends Construct {
  readonly function: lambda.WebFunction;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, { stage, settings, codeFolder, description, access }: WebGatewayProps) {
    super(scope, id);
    this.logGroup = ownLogs(this, settings);
    const role = ownRole(this, this.logGroup);
    for (const statement of access.statements) role.addToPolicy(new PolicyStatement(statement));
    this.function = new lambda.WebFunction(this, 'Function', {
      runtime: lambda.WebFunctionRuntime.NODEJS_24_X,
      code: lambda.WebFunctionCode.fromAssetToManagedBucket(codeFolder),
      timeout: Duration.seconds(lambdaTimeoutSeconds),
      maxConcurrencyPerEnvironment: requestsPerEnvironment,
      revisionDescription: description,
      role,
      logGroup: this.logGroup,
      environment: { [environmentNames.stage]: stage, ...access.environment },
      defaultEndpointAuth: lambda.WebFunctionAuthType.APPLICATION_MANAGED,
      defaultEndpoint: settings.webEnvironmentsMax === null ? {} : { maxEnvironments: settings.webEnvironmentsMax },
    });
    // A revision that starts before its role may read would fail its first requests.
    this.function.resourceRevision.node.addDependency(role);
    Validations.of(this).acknowledge(...(access.acknowledgements ?? []), {
      id: '@aws-cdk/aws-lambda:webFunctionPublicEndpoint',
      reason: 'Whoever calls it shows a Bearer key, which the gateway checks.',
    });
    acknowledgeCodeCopy(Stack.of(this));
  }
}

/** Code of a Web Function must lie in a bucket with versions: CDK makes one, and copies the bundle there as it deploys. */
function acknowledgeCodeCopy(stack: Stack): void {
  const reason = 'Made by CDK and run while deploying only: it copies the bundle, which holds nothing of a customer.';
  const wildcards = [
    'Action::s3:Abort*',
    'Action::s3:DeleteObject*',
    'Resource::<AWSCDKWebFunctionAssetBucket5B596593.Arn>/web-function/*',
    'Resource::arn:<AWS::Partition>:s3:::cdk-hnb659fds-assets-<AWS::AccountId>-<AWS::Region>/*',
  ].map((what) => `AwsSolutions-IAM5[${what}]`);
  const managed =
    'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]';
  for (const child of stack.node.children) {
    const ids = child.node.id.startsWith('Custom::S3ObjectCopy') ? [managed, ...wildcards] : [];
    if (child.node.id === 'AWSCDKWebFunctionAssetBucket') ids.push('AwsSolutions-S1');
    for (const id of ids) Validations.of(child).acknowledge({ id, reason });
  }
}
