// The CDK app: every stage of the settings, synthesized without a network. What a stage is stands in its settings alone.
// The one context value, `firstDeployment`, belongs to deploy.ts and lasts for one step of one deployment.
import { resolve } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { GatewayStage } from './stage.ts';
import { stageSettings } from './stage-settings.ts';

const app = new App();
const isFirstDeployment = app.node.tryGetContext('firstDeployment') === 'true';
const bundlesRoot = resolve(import.meta.dirname, '../../dist');
for (const [stage, settings] of Object.entries(stageSettings)) {
  new GatewayStage(app, stage, { settings, bundlesRoot, isFirstDeployment });
}
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
app.synth();
