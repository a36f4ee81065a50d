// Defines the CDK app, which synthesizes every stage of the settings without a network. The settings alone define a
// stage.
import { resolve } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describeUnheld } from './check-settings.ts';
import { readCommit } from './deployment/commit.ts';
import { stagesLine } from './deployment/deploy-options.ts';
import { GatewayStage } from './stage.ts';
import { stageSettings } from './stage-settings.ts';
import { readContext } from './this-deployment.ts';

const app = new App();
const commit = readCommit();
const bundlesRoot = resolve(import.meta.dirname, '../../dist');
for (const [stage, settings] of Object.entries(stageSettings)) {
  const deployment = readContext(stage, (name) => app.node.tryGetContext(name));
  new GatewayStage(app, stage, { settings, bundlesRoot, commit, deployment });
  const unheld = describeUnheld(stage, settings);
  if (unheld !== undefined) process.stderr.write(`${unheld}\n`);
}
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
// cdk starts the app before it reads its own arguments. Without the name of a stage, cdk itself would only report that
// it found no stack.
process.stderr.write(stagesLine(Object.keys(stageSettings)));
app.synth();
