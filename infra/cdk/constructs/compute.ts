// Defines the compute of the gateway as the rest of the api stack uses it. Also defines the usual kind, two Lambda
// functions with their own URLs: a function for chat completions, which streams, and a function for the model listing.
import { join } from 'node:path';
import { CfnOutput } from 'aws-cdk-lib';
import { FunctionUrlOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import type { FargateService } from 'aws-cdk-lib/aws-ecs';
import type { ApplicationLoadBalancer, ApplicationTargetGroup } from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { type FunctionUrl, InvokeMode, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct, IConstruct } from 'constructs';
import { brand, callTimes, tableNaming } from '../../../shared/foundation/constants/index.ts';
import { slowSecondsOf } from '../answer-times.ts';
import type { StageSettings } from '../settings-schema.ts';
import { type Access, tableAccess } from './access.ts';
import type { CreateOrigin } from './edge.ts';
import { addPublicUrl, NodeFunction } from './node-function.ts';
import type { Rollout } from './rollout.ts';
import { modelsTableActions } from './table-actions.ts';

export interface ComputeProps {
  readonly stage: string;
  readonly settings: StageSettings;
  /** Folder that contains one folder of code per function. */
  readonly bundlesRoot: string;
  /** Name of the data stack, imported from it, for a description. */
  readonly dataStack: string;
  /** Rights that every function needs. */
  readonly commonAccess: Access;
  readonly chatAccess: Access;
  readonly rollout: Rollout;
}

export interface Compute {
  /** URL for clients if the stage has no distribution. Ends in a slash. */
  readonly url: string;
  readonly chatOrigin: CreateOrigin;
  /** Absent if the chat origin lists models too. */
  readonly modelsOrigin?: CreateOrigin;
  /** Log groups by the name that an operator knows; the first log group contains the lines of chat calls. */
  readonly logGroups: Readonly<Record<string, LogGroup>>;
  readonly functions: Readonly<Record<string, LambdaFunction>>;
  /** Resources that read which origin secrets are accepted. */
  readonly originSecretReaders: readonly IConstruct[];
  /** Absent if functions run the calls. */
  readonly tasks?: Tasks;
}

/** Tasks and their load balancer, as alarms and dashboard use them. */
export interface Tasks {
  readonly service: FargateService;
  readonly targets: ApplicationTargetGroup;
  readonly balancer: ApplicationLoadBalancer;
  readonly min: number;
  readonly max: number;
}

/**
 * Creates the functions. The constructs are direct children of the stack, because their path is part of their identity
 * in a deployed stage.
 */
export function functionCompute(scope: Construct, props: ComputeProps): Compute {
  const { stage, settings, bundlesRoot, dataStack, commonAccess, chatAccess, rollout } = props;
  const chat = new NodeFunction(scope, 'ChatCompletions', {
    stage,
    settings,
    codeFolder: join(bundlesRoot, 'gateway'),
    description: `${brand} ${stage}: POST /v1/chat/completions, streaming; data in ${dataStack}`,
    timeoutSeconds: callTimes(settings.streamBudgetSeconds, slowSecondsOf(settings)).functionTimeoutSeconds,
    reservedConcurrency: settings.gatewayReservedConcurrency,
  });
  chat.grant(chatAccess);
  const models = new NodeFunction(scope, 'Models', {
    stage,
    settings,
    codeFolder: join(bundlesRoot, 'models'),
    description: `${brand} ${stage}: GET /v1/models`,
    // This function does not stream.
    timeoutSeconds: callTimes().functionTimeoutSeconds,
    reservedConcurrency: settings.modelsReservedConcurrency,
  });
  models.grant(tableAccess(scope, tableNaming(stage, settings.tableSuffix), modelsTableActions));
  for (const [name, target] of Object.entries({ Chat: chat, Models: models })) {
    target.grant(commonAccess);
    new CfnOutput(scope, `${name}FunctionName`, { value: target.function.functionName });
  }
  const [chatAlias, modelsAlias] = [rollout(chat), rollout(models)];
  const chatUrl = addPublicUrl(chatAlias, InvokeMode.RESPONSE_STREAM);
  return {
    url: chatUrl.url,
    chatOrigin: originOf(chatUrl),
    modelsOrigin: originOf(addPublicUrl(modelsAlias, InvokeMode.BUFFERED)),
    logGroups: { Chat: chat.logGroup, Models: models.logGroup },
    functions: { chat: chat.function, models: models.function },
    originSecretReaders: [chatAlias, modelsAlias],
  };
}

export const originOf =
  (url: FunctionUrl): CreateOrigin =>
  (options) =>
    new FunctionUrlOrigin(url, options);
