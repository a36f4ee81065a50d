// One environment: its data stack and its api stack, deployed in that order and named after the stage.
import { BOOTSTRAP_QUALIFIER_CONTEXT, PermissionsBoundary, Stage, Tags } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { ApiStack, type ComputeKind } from './api-stack.ts';
import { checkSettings } from './check-settings.ts';
import type { ImportPlace } from './constructs/spill-bucket.ts';
import { DataStack } from './data-stack.ts';
import { apiStackName, dataStackName, stageTags } from './resource-names.ts';
import type { StageSettings } from './settings-schema.ts';

export interface GatewayStageProps {
  readonly settings: StageSettings;
  /** Folder with one folder of code per function, as `npm run build` writes it. */
  readonly bundlesRoot: string;
  /**
   * Leaves out what would keep CloudFormation from removing a data stack whose first deployment failed: termination
   * protection of the stack, and deletion protection of tables that it creates.
   */
  readonly isFirstDeployment?: boolean;
  /** Tables and bucket that stand there without belonging to the stack are imported by this deployment. */
  readonly importsIn?: ImportPlace | undefined;
  /** Restored tables are imported by this deployment, as DynamoDB made them. */
  readonly isImportingRestored?: boolean | undefined;
  /** Whom the functions accept for this deployment alone, beside whom the settings name. */
  readonly alsoAccepts?: string | undefined;
  /** What runs for this deployment alone, beside what the settings name. */
  readonly alsoRuns?: ComputeKind | undefined;
  /** For this deployment alone: a new version takes all calls at once. */
  readonly isAtOnce?: boolean | undefined;
  /** That of the checkout, which a deployed stage tells. */
  readonly commit: string;
}

export class GatewayStage extends Stage {
  readonly data: DataStack;
  readonly api: ApiStack;

  /** Account and region are those of the deploying credentials unless the settings name them. Throws for settings that are not valid. */
  constructor(scope: Construct, stage: string, props: GatewayStageProps) {
    const { account, region, permissionsBoundary: boundary } = props.settings;
    super(scope, stage, {
      env: { ...(account == null ? {} : { account }), ...(region == null ? {} : { region }) },
      ...(boundary === undefined ? {} : { permissionsBoundary: PermissionsBoundary.fromName(boundary) }),
    });
    checkSettings(stage, props.settings);
    const { bundlesRoot, importsIn, isImportingRestored, alsoAccepts, alsoRuns, isAtOnce, commit } = props;
    const settings = props.isFirstDeployment === true ? withoutProtection(props.settings, importsIn) : props.settings;
    const tags = stageTags(stage);
    const common = { tags, stage, settings };
    if (settings.bootstrapQualifier !== undefined) {
      this.node.setContext(BOOTSTRAP_QUALIFIER_CONTEXT, settings.bootstrapQualifier);
    }
    this.data = new DataStack(this, 'data', {
      stackName: dataStackName(stage),
      ...common,
      importsIn,
      isImportingRestored,
    });
    this.api = new ApiStack(this, 'api', {
      stackName: apiStackName(stage),
      ...common,
      bundlesRoot,
      commit,
      alsoAccepts,
      alsoRuns,
      isAtOnce,
    });
    this.api.addStackDependency(this.data);
    // CloudFormation hands the tags of a stack on to what takes them; not every region's dashboards do yet.
    const options = { excludeResourceTypes: ['AWS::CloudWatch::Dashboard'] };
    for (const [name, value] of Object.entries(tags)) Tags.of(this).add(name, value, options);
  }
}

/** Adopted tables hold data already: those stay protected. */
const withoutProtection = (settings: StageSettings, importsIn: ImportPlace | undefined): StageSettings => ({
  ...settings,
  terminationProtection: false,
  deletionProtection: settings.deletionProtection && (settings.adopt !== null || importsIn !== undefined),
});
