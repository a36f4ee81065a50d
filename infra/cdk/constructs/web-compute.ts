// The whole gateway as one Lambda Web Function: a plain HTTP server, many requests per environment, billed for active
// processor time instead of waiting. It serves every path. Checked as a template only; never run on a live account.
import { join } from 'node:path';
import { Aws, Duration, Stack, Validations } from 'aws-cdk-lib';
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { type CfnRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { brand, callTimes, environmentNames } from '../../../shared/foundation/constants/index.ts';
import { usualQualifier, webLogGroupNames } from '../resource-names.ts';
import { mergeAccess, requestsPerEnvironment } from './access.ts';
import type { Compute, ComputeProps } from './compute.ts';
import { executionRole, stageLogGroup } from './node-function.ts';

export function webCompute(stack: Construct, props: ComputeProps): Compute {
  const { stage, settings, bundlesRoot, dataStack, commonAccess, chatAccess } = props;
  const { functionTimeoutSeconds } = callTimes(settings.streamBudgetSeconds);
  const scope = new Construct(stack, 'Web');
  const [logGroupName, companionName] = webLogGroupNames(stage);
  const logGroup = stageLogGroup(scope, 'Logs', settings, { logGroupName });
  const companion = stageLogGroup(scope, 'LocalLogs', settings, { logGroupName: companionName });
  const role = executionRole(scope, logGroup, companion);
  (role.node.defaultChild as CfnRole).description = `${brand} ${stage}: data in ${dataStack}`;
  const { statements, environment, acknowledgements = [] } = mergeAccess(commonAccess, chatAccess);
  for (const statement of statements) role.addToPolicy(new PolicyStatement(statement));
  const target = new lambda.WebFunction(scope, 'Function', {
    // Unique in an account, whatever the region.
    webFunctionName: `${brand}-${stage}-${Aws.REGION}`,
    runtime: lambda.WebFunctionRuntime.NODEJS_24_X,
    code: lambda.WebFunctionCode.fromAssetToManagedBucket(join(bundlesRoot, 'web')),
    timeout: Duration.seconds(functionTimeoutSeconds),
    maxConcurrencyPerEnvironment: requestsPerEnvironment,
    revisionDescription: `${brand} ${stage}: the whole gateway, streaming`,
    systemLogLevel: lambda.SystemLogLevel[settings.systemLogLevel],
    role,
    logGroup,
    environment: { [environmentNames.stage]: stage, ...environment },
    defaultEndpointAuth: lambda.WebFunctionAuthType.APPLICATION_MANAGED,
    defaultEndpoint: settings.webEnvironmentsMax === null ? {} : { maxEnvironments: settings.webEnvironmentsMax },
  });
  // With the ARN that CDK writes here, DomainName cannot be read and a rollback fails: Lambda wants the bare name.
  const endpoint = target.endpoint.node.defaultChild as lambda.CfnWebFunctionEndpoint;
  endpoint.functionName = target.webFunctionName;
  endpoint.addResourceDependency(target.resource);
  // A revision that starts before its role may read would fail its first requests.
  target.resourceRevision.node.addDependency(role, companion);
  Validations.of(scope).acknowledge(...acknowledgements, {
    id: '@aws-cdk/aws-lambda:webFunctionPublicEndpoint',
    reason: 'The gateway checks the Bearer key of every request.',
  });
  acknowledgeCodeCopy(Stack.of(scope), settings.bootstrapQualifier ?? usualQualifier);
  const { domainName } = target.endpoint;
  return {
    url: `https://${domainName}/`,
    chatOrigin: (options) => new HttpOrigin(domainName, options),
    logGroups: { Web: logGroup },
    functions: {},
    originSecretReaders: [target],
  };
}

/** The code of a Web Function must be in a versioned bucket: CDK creates one and copies the bundle there. */
function acknowledgeCodeCopy(stack: Stack, qualifier: string): void {
  const reason = 'Made by CDK and run only during deployments: it copies the bundle, which holds no customer data.';
  const wildcards = [
    'Action::s3:Abort*',
    'Action::s3:DeleteObject*',
    'Resource::<AWSCDKWebFunctionAssetBucket5B596593.Arn>/web-function/*',
    `Resource::arn:<AWS::Partition>:s3:::cdk-${qualifier}-assets-<AWS::AccountId>-<AWS::Region>/*`,
  ].map((name) => `AwsSolutions-IAM5[${name}]`);
  const managed =
    'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]';
  for (const child of stack.node.children) {
    const ids = child.node.id.startsWith('Custom::S3ObjectCopy') ? [managed, ...wildcards] : [];
    if (child.node.id === 'AWSCDKWebFunctionAssetBucket') ids.push('AwsSolutions-S1');
    for (const id of ids) Validations.of(child).acknowledge({ id, reason });
  }
}
