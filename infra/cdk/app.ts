// The CDK app: every stage of the settings, synthesized without a network. What a stage is stands in its settings alone.
// The context values belong to deploy.ts, which says them anew for each deployment.
import { resolve } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import type { ComputeKind } from './api-stack.ts';
import { readCommit } from './deployment/commit.ts';
import { stagesLine } from './deployment/deploy-options.ts';
import { GatewayStage } from './stage.ts';
import { stageSettings } from './stage-settings.ts';

const app = new App();
const isFirstDeployment = app.node.tryGetContext('firstDeployment') === 'true';
/** `--adopt`, as account/region. */
const [account, region] = String(app.node.tryGetContext('importsIn') ?? '').split('/');
const importsIn = account && region ? { account, region } : undefined;
const alsoAccepts = app.node.tryGetContext('alsoAccepts') as string | undefined;
const alsoRuns = app.node.tryGetContext('alsoRuns') as ComputeKind | undefined;
const isImportingRestored = app.node.tryGetContext('isImportingRestored') === 'true';
const isAtOnce = app.node.tryGetContext('isAtOnce') === 'true';
const commit = readCommit();
const bundlesRoot = resolve(import.meta.dirname, '../../dist');
/** Lambda's quota of the account, as `npm run deploy` reads it. */
const accountConcurrency = app.node.tryGetContext('accountConcurrency') as string | undefined;
const ofAccount = accountConcurrency === undefined ? {} : { accountConcurrency: Number(accountConcurrency) };
for (const [stage, written] of Object.entries(stageSettings)) {
  const settings = { ...ofAccount, ...written };
  new GatewayStage(app, stage, {
    settings,
    bundlesRoot,
    commit,
    isFirstDeployment,
    importsIn,
    alsoAccepts,
    alsoRuns,
    isAtOnce,
    isImportingRestored,
  });
}
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
// cdk runs the app before it looks at what it was asked for: without a stage it would only say that it found no stack.
process.stderr.write(stagesLine(Object.keys(stageSettings)));
app.synth();
