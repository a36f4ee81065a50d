// What every kind of function starts with: a log group that ends with its stack, and a role that may write to it and do
// nothing else.
import { RemovalPolicy } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { StageSettings } from '../stage-settings.ts';

export const ownLogs = (scope: Construct, { logRetention }: StageSettings): LogGroup =>
  new LogGroup(scope, 'Logs', { retention: logRetention, removalPolicy: RemovalPolicy.DESTROY });

export function ownRole(scope: Construct, logGroup: LogGroup): Role {
  const role = new Role(scope, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  logGroup.grantWrite(role);
  return role;
}
