// Defines the console and the management interface. They are a function of their own, which exists only if the settings
// of the stage enable it. The role of the function reads the data that operators see, and writes workspaces, keys,
// credit, functions, and the switches of providers.
import { join } from 'node:path';
import { CfnOutput, RemovalPolicy } from 'aws-cdk-lib';
import { type Alias, InvokeMode, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { brand, callTimes, environmentNames, tableNaming } from '../../../shared/foundation/constants/index.ts';
import { defaultCell } from '../resource-names.ts';
import { operatorConcurrency, type StageSettings } from '../settings-schema.ts';
import { type Access, tableAccess } from './access.ts';
import { originOf } from './compute.ts';
import type { OperatorOrigin } from './edge.ts';
import { addPublicUrl, type LongLogs, NodeFunction } from './node-function.ts';
import type { Rollout } from './rollout.ts';
import { operatorTableActions } from './table-actions.ts';

/**
 * Memory for lists and sums over many calls. With 512 MB the function has a third of a processor, with this memory a
 * whole processor.
 */
const operatorMemoryMb = 1_769;

/** Thirteen months, so that operators' changes can be looked up over a year later. */
const changesRetentionDays = 400;

/**
 * Returns the settings of the log group. The function logs every change. If the stage retains its data, these lines
 * stay after the stack is removed.
 */
export const operatorLogs = ({ removal, logRetentionDays }: StageSettings): { readonly logs?: LongLogs } =>
  removal === 'retain'
    ? {
        logs: {
          retentionDays: Math.max(changesRetentionDays, logRetentionDays),
          removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        },
      }
    : {};

/** Returns the prefix of new keys, and the identity provider with which people sign in, if any. */
export const operatorEnvironment = ({ sign_in: signIn, cell }: StageSettings): Readonly<Record<string, string>> => ({
  [environmentNames.cell]: cell ?? defaultCell,
  ...(signIn == null
    ? {}
    : {
        [environmentNames.signInIssuer]: signIn.issuer,
        [environmentNames.signInClientId]: signIn.client_id,
        ...(signIn.groups_claim === undefined ? {} : { [environmentNames.signInGroupsClaim]: signIn.groups_claim }),
      }),
});

interface OperatorFunctionProps {
  readonly stage: string;
  readonly settings: StageSettings;
  /** Folder that contains one folder of code per function. */
  readonly bundlesRoot: string;
  /** Rights that every function needs. */
  readonly commonAccess: Access;
  readonly rollout: Rollout;
}

export interface OperatorFunction extends OperatorOrigin {
  /** URL of the function. Ends in a slash. */
  readonly url: string;
  readonly function: LambdaFunction;
  /** Alias that the distribution calls. */
  readonly alias: Alias;
  readonly logGroup: LogGroup;
}

export function createOperatorFunction(scope: Construct, props: OperatorFunctionProps): OperatorFunction {
  const { stage, settings, bundlesRoot, commonAccess, rollout } = props;
  const codeFolder = join(bundlesRoot, 'operator');
  const operator = new NodeFunction(scope, 'Operator', {
    stage,
    settings,
    codeFolder,
    description: `${brand} ${stage}: /console and /v1/manage, for operator keys`,
    timeoutSeconds: callTimes().functionTimeoutSeconds,
    reservedConcurrency: operatorConcurrency(settings),
    ...operatorLogs(settings),
    overrides: { memorySize: Math.max(operatorMemoryMb, settings.memoryMb) },
  });
  operator.grant(tableAccess(scope, tableNaming(stage, settings.tableSuffix), operatorTableActions));
  operator.grant(commonAccess);
  new CfnOutput(scope, 'OperatorFunctionName', { value: operator.function.functionName });
  const alias = rollout(operator);
  const url = addPublicUrl(alias, InvokeMode.BUFFERED);
  const origin = { origin: originOf(url), pageFolder: join(codeFolder, 'page') };
  return { url: url.url, ...origin, alias, function: operator.function, logGroup: operator.logGroup };
}
