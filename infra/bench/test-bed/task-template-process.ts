// A process of its own, so that the bench loads no CDK: prints what the template of `prod` with tasks says of their container.
// Arguments: the folder of the bundles, and one for the CDK.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { unknownCommit } from '../../cdk/deployment/commit.ts';
import { GatewayStage } from '../../cdk/stage.ts';
import { stageSettings } from '../../cdk/stage-settings.ts';
import { taskContainerOf } from './task-process.ts';

const [bundlesRoot = '', outdir = ''] = process.argv.slice(2);
const cdkJson = join(import.meta.dirname, '../../../cdk.json');
const { context } = JSON.parse(readFileSync(cdkJson, 'utf8')) as { context: Record<string, unknown> };
const { prod } = stageSettings;
if (prod === undefined) throw new Error('the settings have no stage prod');
const app = new App({ context, outdir });
const { api } = new GatewayStage(app, 'prod', {
  settings: { ...prod, compute: 'container' },
  bundlesRoot,
  commit: unknownCommit,
});
process.stdout.write(JSON.stringify(taskContainerOf(Template.fromStack(api).toJSON())));
