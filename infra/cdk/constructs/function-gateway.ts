// The gateway as two Lambda functions behind URLs of their own: chat completions, which streams, and the model listing.
import { join } from 'node:path';
import { FunctionUrlOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { type FunctionUrl, InvokeMode } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { brand } from '../../../shared/foundation/constants/index.ts';
import type { StageSettings } from '../stage-settings.ts';
import { type Access, tableAccess } from './access.ts';
import type { OriginMaker } from './edge.ts';
import { NodeFunction } from './node-function.ts';
import { modelsTableActions } from './table-actions.ts';

export interface FunctionGatewayProps {
  readonly stage: string;
  readonly settings: StageSettings;
  readonly bundlesRoot: string;
  /** What both need to know. */
  readonly common: Access;
  readonly chatAccess: Access;
}

/** Constructs stand directly in the stack, as they always did: another place would replace every resource. */
export function functionGateway(scope: Construct, props: FunctionGatewayProps) {
  const { stage, settings, bundlesRoot, common, chatAccess } = props;
  const chat = new NodeFunction(scope, 'ChatCompletions', {
    stage,
    settings,
    codeFolder: join(bundlesRoot, 'chat-completions'),
    description: `${brand} ${stage}: POST /v1/chat/completions, streaming`,
    reservedConcurrency: settings.chatReservedConcurrency,
  });
  chat.give(chatAccess);
  const models = new NodeFunction(scope, 'Models', {
    stage,
    settings,
    codeFolder: join(bundlesRoot, 'models'),
    description: `${brand} ${stage}: GET /v1/models`,
    reservedConcurrency: settings.modelsReservedConcurrency,
  });
  models.give(tableAccess(scope, stage, modelsTableActions));
  for (const target of [chat, models]) target.give(common);
  const chatUrl = chat.openUrl(InvokeMode.RESPONSE_STREAM);
  const modelsUrl = models.openUrl(InvokeMode.BUFFERED);
  return { chat, models, chatUrl, chatOrigin: originOf(chatUrl), modelsOrigin: originOf(modelsUrl) };
}

const originOf =
  (url: FunctionUrl): OriginMaker =>
  (options) =>
    new FunctionUrlOrigin(url, options);
