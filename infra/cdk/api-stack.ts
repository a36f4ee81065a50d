// Defines the stack that may be rebuilt at any time: functions and their URLs, or tasks and their load balancer, the
// distribution in front, dashboard and alarms. The stack has no state.
import { CfnOutput, Fn, Stack, type StackProps } from 'aws-cdk-lib';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { environmentNames, tableNaming } from '../../shared/foundation/constants/index.ts';
import {
  bedrockAccess,
  connectionKeyAccess,
  contentReadAccess,
  mergeAccess,
  originSecretAccess,
  providerSecretAccess,
  spillBucketAccess,
  tableAccess,
  telemetryAccess,
  variablesAccess,
} from './constructs/access.ts';
import { Alarms } from './constructs/alarms.ts';
import { type Compute, type ComputeProps, functionCompute, type Tasks } from './constructs/compute.ts';
import { containerCompute } from './constructs/container-compute.ts';
import { Dashboard } from './constructs/dashboard.ts';
import { DistributionWatch } from './constructs/distribution-watch.ts';
import { Edge } from './constructs/edge.ts';
import { encryptionKeyAccess } from './constructs/encryption-key.ts';
import { countLines, distributionRegion, functionUrlErrors } from './constructs/gateway-metrics.ts';
import { createOperatorFunction, type OperatorFunction, operatorEnvironment } from './constructs/operator-function.ts';
import { OriginSecret } from './constructs/origin-secret.ts';
import { rolloutOf } from './constructs/rollout.ts';
import { gatewayTableActions } from './constructs/table-actions.ts';
import { acceptedOutput, wantedOrigins } from './deployment/accepted-origins.ts';
import { commitOutput, computeOutput, dataStackName, tableSuffixOutput } from './resource-names.ts';
import { defaultAccountConcurrency, type StageSettings } from './settings-schema.ts';
import { zonesMax } from './settings-values.ts';
import { budgetVariables, concurrencyVariables, keyRateVariables, tableSuffixVariables } from './stage-variables.ts';
import type { ComputeKind, ThisDeployment } from './this-deployment.ts';

interface ApiStackProps extends StackProps {
  readonly stage: string;
  readonly settings: StageSettings;
  /** Folder that contains one folder of code per function. */
  readonly bundlesRoot: string;
  /** The deployed commit. */
  readonly commit: string;
  readonly deployment: ThisDeployment;
}

const createCompute: Readonly<Record<ComputeKind, (stack: Stack, props: ComputeProps) => Compute>> = {
  functions: functionCompute,
  container: containerCompute,
};

export class ApiStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    { stage, settings, bundlesRoot, commit, deployment, ...props }: ApiStackProps,
  ) {
    super(scope, id, props);
    const { alsoAccepts, alsoRuns, isAtOnce = false } = deployment;
    new CfnOutput(this, commitOutput, { value: commit });
    new CfnOutput(this, computeOutput, { value: settings.compute });
    if (settings.tableSuffix !== undefined) new CfnOutput(this, tableSuffixOutput, { value: settings.tableSuffix });
    const originSecret =
      settings.edge === 'cloudfront'
        ? new OriginSecret(this, 'OriginSecret', { stage, settings, alsoAccepts })
        : undefined;
    // The new secret comes first, because the distribution sends the first secret.
    const accepted = [...wantedOrigins(settings), ...(alsoAccepts === undefined ? [] : [alsoAccepts])];
    new CfnOutput(this, acceptedOutput, { value: accepted.join(',') });
    const commonAccess = mergeAccess(
      ...(originSecret === undefined ? [] : [originSecretAccess(stage)]),
      variablesAccess({ ...tableSuffixVariables(settings), ...keyRateVariables(settings) }),
      telemetryAccess(stage, settings.telemetry),
      encryptionKeyAccess(settings),
    );
    const chatAccess = mergeAccess(
      tableAccess(this, tableNaming(stage, settings.tableSuffix), gatewayTableActions),
      spillBucketAccess(stage),
      connectionKeyAccess(stage),
      providerSecretAccess(stage),
      bedrockAccess(settings.bedrockRegions),
    );
    // CloudFormation deletes no stack whose export another stack imports, so the data stack is deleted last.
    const dataStack = Fn.importValue(dataStackName(stage));
    const rollout = rolloutOf(this, { stage, settings, isAtOnce });
    const run = (kind: ComputeKind): Compute => {
      const kindSettings = { ...settings, compute: kind };
      const access = mergeAccess(
        chatAccess,
        variablesAccess({ ...concurrencyVariables(kindSettings), ...budgetVariables(kindSettings) }),
      );
      return createCompute[kind](this, {
        stage,
        settings: kindSettings,
        bundlesRoot,
        dataStack,
        commonAccess,
        chatAccess: access,
        rollout,
      });
    };
    const compute = run(settings.compute);
    // The former compute gets no new call, and the next deployment removes it.
    const former = alsoRuns === undefined ? undefined : run(alsoRuns);
    // Without a distribution the console has a URL of its own, and its page needs the clients' URL.
    const gatewayUrl = settings.edge === 'none' ? { [environmentNames.gatewayUrl]: compute.url } : {};
    const consoleAccess = mergeAccess(
      commonAccess,
      contentReadAccess(stage),
      variablesAccess({ ...gatewayUrl, ...operatorEnvironment(settings) }),
    );
    // Tasks serve the console in addition to everything else.
    const operator =
      settings.console === true && settings.compute === 'functions'
        ? createOperatorFunction(this, { stage, settings, bundlesRoot, commonAccess: consoleAccess, rollout })
        : undefined;
    const edge =
      originSecret === undefined ? undefined : this.#edge({ stage, settings }, { compute, operator }, originSecret);
    this.#urls(settings, { compute, operator }, edge, originSecret);
    const logGroups = { ...compute.logGroups, ...former?.logGroups, ...(operator && { Operator: operator.logGroup }) };
    for (const [name, { logGroupName }] of Object.entries(logGroups)) {
      new CfnOutput(this, `${name}LogGroup`, { value: logGroupName });
    }
    const functions = { ...compute.functions, ...(operator && { operator: operator.function }) };
    this.#observability(
      { stage, settings },
      { functions, logGroups, calls: compute.logGroups, tasks: compute.tasks },
      edge?.distribution.distributionId,
    );
  }

  /**
   * Returns zones by their position in the region, because CDK would look up their names if the settings name a region.
   */
  override get availabilityZones(): string[] {
    return Array.from({ length: zonesMax }, (_, at) => Fn.select(at, Fn.getAzs()));
  }

  /** Writes the outputs with the URLs of the stage. Clients and `npm run smoke` call these URLs. */
  #urls(
    settings: StageSettings,
    { compute, operator }: Origins,
    edge: Edge | undefined,
    originSecret: OriginSecret | undefined,
  ): void {
    const url = edge === undefined ? compute.url : `https://${edge.domainName}/`;
    new CfnOutput(this, 'BaseUrl', { value: `${url}v1` });
    new CfnOutput(this, 'OpenAiBaseUrl', { value: `${url}openai/v1`, description: "For OpenAI's SDKs and frameworks" });
    if (settings.console === true) {
      const origin = edge === undefined && operator !== undefined ? operator.url : url;
      new CfnOutput(this, 'ConsoleUrl', { value: `${origin}console`, description: 'For operators' });
    }
    if (originSecret !== undefined) {
      // `npm run smoke` requests this URL without the secret, which the functions must refuse. Tasks have no such URL.
      if (compute.tasks === undefined) new CfnOutput(this, 'DirectUrl', { value: compute.url });
      new CfnOutput(this, 'OriginSecretArn', { value: originSecret.secretArn });
    }
  }

  #edge({ stage, settings }: StageOptions, { compute, operator }: Origins, secret: OriginSecret): Edge {
    const { chatOrigin, modelsOrigin } = compute;
    const { accepted, headerValue } = secret;
    const readers = [...compute.originSecretReaders, ...(operator === undefined ? [] : [operator.alias])];
    // The accepted secrets change first, then their readers, and finally the distribution.
    for (const reader of readers) reader.node.addDependency(accepted);
    const isTasks = compute.tasks !== undefined;
    const options = {
      ...{ stage, settings, chatOrigin, modelsOrigin, operator, isTasks },
      originSecretHeaderValue: headerValue,
    };
    const edge = new Edge(this, 'Edge', options);
    const { distribution } = edge;
    // The distribution must not refuse files that the former page still uses, either.
    edge.node.addDependency(accepted, ...readers);
    new CfnOutput(this, 'DistributionId', { value: distribution.distributionId });
    if (settings.customDomain !== null) {
      new CfnOutput(this, 'DistributionDomainName', { value: distribution.distributionDomainName });
    }
    return edge;
  }

  /**
   * Creates dashboard and alarms. Alarms exist if data must survive, or if the settings name a person who wants them.
   */
  #observability(
    { stage, settings }: StageOptions,
    { functions, logGroups, calls, tasks }: Observed,
    distributionId: string | undefined,
  ): void {
    const { alarmEmail: email, dashboard, removal } = settings;
    const hasOriginSecret = distributionId !== undefined;
    for (const logGroup of Object.values(logGroups)) {
      countLines(logGroup, 'ServerErrors');
      if (hasOriginSecret) countLines(logGroup, 'RefusedOrigins');
    }
    const [chatLogs] = Object.values(calls) as [LogGroup, ...LogGroup[]];
    for (const metricName of ['FailedSettlements', 'RefusedAtMaximum', 'StoreUnavailable', 'FailedControls'] as const) {
      countLines(chatLogs, metricName);
    }
    if (tasks === undefined) countLines(chatLogs, 'BrokenAnswers');
    const urlErrors = tasks === undefined ? Object.values(functions).flatMap(functionUrlErrors) : [];
    const hasAlarms = removal === 'retain' || email !== null;
    const { accountConcurrency = defaultAccountConcurrency } = settings;
    // Alarms read metrics of their own region only. In other regions a function copies CloudFront's metrics.
    const readsDirectly = this.region === distributionRegion;
    const watch =
      hasAlarms && distributionId !== undefined && !readsDirectly
        ? new DistributionWatch(this, 'DistributionWatch', { stage, settings, distributionId })
        : undefined;
    const distributionWatch = watch?.function;
    const nameOf = tableNaming(stage, settings.tableSuffix);
    const watched = {
      ...{ functions, urlErrors, distributionWatch, accountConcurrency, tasks, hasOriginSecret },
      distributionId: readsDirectly ? distributionId : undefined,
    };
    const alarms = hasAlarms ? new Alarms(this, 'Alarms', { stage, nameOf, email, ...watched }).all : [];
    if (!dashboard) return;
    const [logGroup] = Object.values(logGroups) as [LogGroup, ...LogGroup[]];
    const { url } = new Dashboard(this, 'Dashboard', {
      stage,
      nameOf,
      logGroup,
      functions,
      tasks,
      distributionId,
      alarms,
    });
    new CfnOutput(this, 'DashboardUrl', { value: url });
  }
}

interface Origins {
  readonly compute: Compute;
  readonly operator: OperatorFunction | undefined;
}

interface Observed extends Pick<Compute, 'functions' | 'logGroups'> {
  /** Log groups of the code that serves calls. */
  readonly calls: Compute['logGroups'];
  readonly tasks: Tasks | undefined;
}

type StageOptions = Pick<ApiStackProps, 'stage' | 'settings'>;
