// Defines one environment, which has a data stack and an api stack. The stacks are deployed in that order and named
// after the stage.
import { BOOTSTRAP_QUALIFIER_CONTEXT, PermissionsBoundary, Stage, Tags } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { ApiStack } from './api-stack.ts';
import { checkSettings } from './check-settings.ts';
import { DataStack } from './data-stack.ts';
import { apiStackName, dataStackName, stageTags } from './resource-names.ts';
import type { StageSettings } from './settings-schema.ts';
import type { ThisDeployment } from './this-deployment.ts';

interface GatewayStageProps {
  readonly settings: StageSettings;
  /** Folder that contains one folder of code per function, as `npm run build` writes it. */
  readonly bundlesRoot: string;
  readonly deployment?: ThisDeployment;
  /** Commit of the checkout, which a deployed stage reports. */
  readonly commit: string;
}

export class GatewayStage extends Stage {
  readonly data: DataStack;
  readonly api: ApiStack;

  /**
   * Creates both stacks. Account and region belong to the deploying credentials unless the settings name them. Throws
   * for invalid settings.
   */
  constructor(scope: Construct, stage: string, props: GatewayStageProps) {
    const { account, region, permissionsBoundary: boundary } = props.settings;
    super(scope, stage, {
      env: { ...(account == null ? {} : { account }), ...(region == null ? {} : { region }) },
      ...(boundary === undefined ? {} : { permissionsBoundary: PermissionsBoundary.fromName(boundary) }),
    });
    checkSettings(stage, props.settings);
    const { bundlesRoot, commit, deployment = {} } = props;
    const settings = settingsOf(props.settings, deployment);
    const tags = stageTags(stage);
    const common = { tags, stage, settings, deployment };
    if (settings.bootstrapQualifier !== undefined) {
      this.node.setContext(BOOTSTRAP_QUALIFIER_CONTEXT, settings.bootstrapQualifier);
    }
    this.data = new DataStack(this, 'data', { stackName: dataStackName(stage), ...common });
    this.api = new ApiStack(this, 'api', { stackName: apiStackName(stage), ...common, bundlesRoot, commit });
    this.api.addStackDependency(this.data);
    // CloudFormation passes the tags of a stack to resources that accept them; dashboards do not in every region yet.
    const options = { excludeResourceTypes: ['AWS::CloudWatch::Dashboard'] };
    for (const [name, value] of Object.entries(tags)) Tags.of(this).add(name, value, options);
  }
}

function settingsOf(written: StageSettings, deployment: ThisDeployment): StageSettings {
  const { firstDeployment, importsIn, accountConcurrency } = deployment;
  const settings = accountConcurrency === undefined ? written : { accountConcurrency, ...written };
  if (firstDeployment !== true) return settings;
  // Adopted tables have data already, so they stay protected.
  const isAdopting = settings.adopt !== null || importsIn !== undefined;
  return {
    ...settings,
    terminationProtection: false,
    deletionProtection: settings.deletionProtection && isAdopting,
  };
}
