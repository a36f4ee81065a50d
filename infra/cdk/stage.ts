// One environment: its data stack and its api stack, deployed in that order and named after the stage.
import { Stage, Tags } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { brand } from '../../shared/foundation/constants/index.ts';
import { ApiStack } from './api-stack.ts';
import { DataStack } from './data-stack.ts';
import { apiStackName, dataStackName } from './resource-names.ts';
import { checkSettings, type StageSettings } from './settings-schema.ts';

export interface GatewayStageProps {
  readonly settings: StageSettings;
  /** Folder with one folder of code per function, as `npm run build` writes it. */
  readonly bundlesRoot: string;
  /**
   * Leaves out what would keep CloudFormation from removing a data stack whose first deployment failed: termination
   * protection of the stack, and deletion protection of tables that it creates.
   */
  readonly isFirstDeployment?: boolean;
}

export class GatewayStage extends Stage {
  readonly data: DataStack;
  readonly api: ApiStack;

  /** Account and region are those of the deploying credentials. Throws for settings that are not valid. */
  constructor(scope: Construct, stage: string, props: GatewayStageProps) {
    super(scope, stage);
    checkSettings(stage, props.settings);
    const settings = props.isFirstDeployment === true ? withoutProtection(props.settings) : props.settings;
    const tags = { application: brand, stage };
    this.data = new DataStack(this, 'data', { stackName: dataStackName(stage), tags, stage, settings });
    const { bundlesRoot } = props;
    this.api = new ApiStack(this, 'api', { stackName: apiStackName(stage), tags, stage, settings, bundlesRoot });
    this.api.addStackDependency(this.data);
    // CloudFormation hands the tags of a stack on to what takes them; not every region's dashboards do yet.
    const options = { excludeResourceTypes: ['AWS::CloudWatch::Dashboard'] };
    for (const [name, value] of Object.entries(tags)) Tags.of(this).add(name, value, options);
  }
}

/** Adopted tables hold data already: those stay protected. */
const withoutProtection = (settings: StageSettings): StageSettings => ({
  ...settings,
  terminationProtection: false,
  deletionProtection: settings.deletionProtection && settings.adopt !== null,
});
