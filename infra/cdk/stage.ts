// One environment: its data stack and its api stack, deployed in that order and named after the stage.
import { Stage } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { brand } from '../../shared/foundation/constants/index.ts';
import { ApiStack } from './api-stack.ts';
import { checkSettings } from './check-settings.ts';
import { DataStack } from './data-stack.ts';
import type { StageSettings } from './stage-settings.ts';

export interface GatewayStageProps {
  readonly settings: StageSettings;
  /** Folder in which the build left one folder per function. */
  readonly bundlesRoot: string;
}

export class GatewayStage extends Stage {
  readonly data: DataStack;
  readonly api: ApiStack;

  /** No account and no region: it goes where the deploying credentials point. Throws for settings that cannot be. */
  constructor(scope: Construct, stage: string, { settings, bundlesRoot }: GatewayStageProps) {
    super(scope, stage);
    checkSettings(stage, settings);
    this.data = new DataStack(this, 'data', { stackName: `${brand}-${stage}-data`, stage, settings });
    const { data } = this;
    this.api = new ApiStack(this, 'api', { stackName: `${brand}-${stage}-api`, stage, settings, data, bundlesRoot });
    this.api.addStackDependency(this.data);
  }
}
