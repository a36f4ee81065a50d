// The CDK app: every stage of the settings table, and nothing that needs a network. The only reader of CDK context:
// `-c edge=none|cloudfront` and `-c compute=functions|web` replace what the settings of each stage say.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { GatewayStage } from './stage.ts';
import { stageSettings } from './stage-settings.ts';

const bundlesRoot = resolve(import.meta.dirname, '../../dist');

/** One word of a few. Undefined where nothing was said. */
const readChoice = <Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined => {
  const value: unknown = app.node.tryGetContext(name);
  const choice = choices.find((known) => known === value);
  if (value !== undefined && choice === undefined) {
    throw new Error(`-c ${name} must be ${choices.join(' or ')}, not ${String(value)}`);
  }
  return choice;
};

if (!existsSync(bundlesRoot)) throw new Error('there is no dist folder: run `npm run build` first');
const app = new App();
const edge = readChoice('edge', ['none', 'cloudfront']);
const compute = readChoice('compute', ['functions', 'web']);
for (const [stage, settings] of Object.entries(stageSettings)) {
  const chosen = { ...settings, edge: edge ?? settings.edge, compute: compute ?? settings.compute };
  new GatewayStage(app, stage, { settings: chosen, bundlesRoot });
}
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
app.synth();
