// What may be rebuilt at any time: the functions, their URLs, the distribution in front, and the operator's view of
// them. Holds no state.
import { join } from 'node:path';
import { CfnOutput, Fn, Stack, type StackProps } from 'aws-cdk-lib';
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct, IDependable } from 'constructs';
import { brand, environmentNames } from '../../shared/foundation/constants/index.ts';
import {
  type Access,
  allOf,
  connectionKeyAccess,
  providerSecretAccess,
  spillBucketAccess,
  tableAccess,
} from './constructs/access.ts';
import { Alarms } from './constructs/alarms.ts';
import { bedrockAccess } from './constructs/bedrock-access.ts';
import { Dashboard } from './constructs/dashboard.ts';
import { Edge, type OriginMaker } from './constructs/edge.ts';
import { functionGateway } from './constructs/function-gateway.ts';
import { countServerErrors } from './constructs/gateway-metrics.ts';
import { OriginSecret } from './constructs/origin-secret.ts';
import { chatTableActions } from './constructs/table-actions.ts';
import { WebGateway } from './constructs/web-gateway.ts';
import { connectionKeyAlias, type DataStack, providerSecretName } from './data-stack.ts';
import type { StageSettings } from './stage-settings.ts';

export interface ApiStackProps extends StackProps {
  readonly stage: string;
  readonly settings: StageSettings;
  readonly data: Pick<DataStack, 'connectionKey' | 'providerCredentials'>;
  /** Folder in which the build left one folder per function. */
  readonly bundlesRoot: string;
}

/** What the rest of the stack needs to know of whatever runs the gateway. */
interface Compute {
  /** Ends in /v1. For clients, where nothing stands in front. */
  readonly baseUrl: string;
  readonly chatOrigin: OriginMaker;
  readonly modelsOrigin?: OriginMaker;
  /** By the name an operator knows them by; the first holds the lines of chat calls. */
  readonly logGroups: Readonly<Record<string, LogGroup>>;
  readonly functions: Readonly<Record<string, LambdaFunction>>;
  readonly acceptors: readonly IDependable[];
}

export class ApiStack extends Stack {
  readonly #stage: string;
  readonly #settings: StageSettings;
  readonly #bundlesRoot: string;

  constructor(scope: Construct, id: string, { stage, settings, data, bundlesRoot, ...props }: ApiStackProps) {
    super(scope, id, props);
    this.#stage = stage;
    this.#settings = settings;
    this.#bundlesRoot = bundlesRoot;
    const originSecret =
      settings.edge === 'cloudfront' ? new OriginSecret(this, 'OriginSecret', { stage, settings }) : undefined;
    const common: Access = {
      statements: [],
      environment:
        originSecret === undefined ? {} : { [environmentNames.originSecretHashes]: originSecret.acceptedHashes },
    };
    const chatAccess = allOf(
      tableAccess(this, stage, chatTableActions),
      spillBucketAccess(stage),
      connectionKeyAccess(stage, data.connectionKey),
      providerSecretAccess(data.providerCredentials),
      bedrockAccess(settings.bedrockRegions),
    );
    const compute = settings.compute === 'web' ? this.#web(common, chatAccess) : this.#functions(common, chatAccess);
    const edge = originSecret === undefined ? undefined : this.#edge(compute, originSecret);
    if (edge === undefined) new CfnOutput(this, 'BaseUrl', { value: compute.baseUrl });
    for (const [name, { logGroupName }] of Object.entries(compute.logGroups)) {
      new CfnOutput(this, `${name}LogGroup`, { value: logGroupName });
    }
    this.#operatorView(compute, edge);
  }

  #functions(common: Access, chatAccess: Access): Compute {
    const [stage, settings, bundlesRoot] = [this.#stage, this.#settings, this.#bundlesRoot];
    const parts = functionGateway(this, { stage, settings, bundlesRoot, common, chatAccess });
    const { chat, models, chatUrl, chatOrigin, modelsOrigin } = parts;
    for (const [name, { function: target }] of Object.entries({ Chat: chat, Models: models })) {
      new CfnOutput(this, `${name}FunctionName`, { value: target.functionName });
    }
    return {
      // The chat function lists models too. Its URL ends in a slash.
      baseUrl: Fn.join('', [chatUrl.url, 'v1']),
      chatOrigin,
      modelsOrigin,
      logGroups: { Chat: chat.logGroup, Models: models.logGroup },
      functions: { chat: chat.function, models: models.function },
      acceptors: [chat.function, models.function],
    };
  }

  #web(common: Access, chatAccess: Access): Compute {
    const web = new WebGateway(this, 'Web', {
      stage: this.#stage,
      settings: this.#settings,
      codeFolder: join(this.#bundlesRoot, 'web'),
      description: `${brand} ${this.#stage}: the whole gateway, streaming`,
      access: allOf(common, chatAccess, byName(this.#stage)),
    });
    const { domainName } = web.function.endpoint;
    return {
      baseUrl: `https://${domainName}/v1`,
      chatOrigin: (options) => new HttpOrigin(domainName, options),
      logGroups: { Web: web.logGroup },
      functions: {},
      acceptors: [web.function],
    };
  }

  #edge({ chatOrigin, modelsOrigin, acceptors }: Compute, { headerValue }: OriginSecret): Edge {
    const edge = new Edge(this, 'Edge', {
      stage: this.#stage,
      settings: this.#settings,
      chat: chatOrigin,
      models: modelsOrigin,
      originSecretHeaderValue: headerValue,
    });
    const { distribution, domainName } = edge;
    // It must not send a new secret before the functions accept it.
    distribution.node.addDependency(...acceptors);
    new CfnOutput(this, 'BaseUrl', { value: `https://${domainName}/v1` });
    new CfnOutput(this, 'DistributionId', { value: distribution.distributionId });
    if (this.#settings.customDomain !== null) {
      new CfnOutput(this, 'DistributionDomainName', { value: distribution.distributionDomainName });
    }
    return edge;
  }

  #operatorView({ functions, logGroups }: Compute, edge: Edge | undefined): void {
    const stage = this.#stage;
    const { alarmEmail, dashboard } = this.#settings;
    const distributionId = edge?.distribution.distributionId;
    const [chatLogs, ...otherLogs] = Object.values(logGroups) as [LogGroup, ...LogGroup[]];
    for (const logGroup of [chatLogs, ...otherLogs]) countServerErrors(logGroup, 'ServerErrors', logGroup);
    const alarms =
      alarmEmail === null
        ? []
        : new Alarms(this, 'Alarms', { stage, email: alarmEmail, functions, distributionId }).all;
    if (!dashboard) return;
    const { dashboardName } = new Dashboard(this, 'Dashboard', {
      stage,
      logGroup: chatLogs,
      functions,
      distributionId,
      alarms,
    });
    const url = `https://${this.region}.console.aws.amazon.com/cloudwatch/home?region=${this.region}#dashboards/dashboard/${dashboardName}`;
    new CfnOutput(this, 'DashboardUrl', { value: url });
  }
}

/** A revision of a Web Function is copied while it is deployed, and a value of another stack would not survive that. */
const byName = (stage: string): Access => ({
  statements: [],
  environment: {
    [environmentNames.byokKeyId]: connectionKeyAlias(stage),
    [environmentNames.providerSecret]: providerSecretName(stage),
  },
});
