// Copies the project as an operator has it, so that settings can be edited and a deployment can be made to fail without
// changing the files under test.
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StageSettings } from '../../cdk/settings-schema.ts';
import { projectRoot } from '../verify-step.ts';
import { account, region } from './emulated-account.ts';

export interface ProjectCopy {
  readonly folder: string;
  /** Changes the committed settings, by stage. Former changes end. */
  writeSettings(changes: Readonly<Record<string, Partial<StageSettings>>>): void;
  remove(): void;
}

/**
 * Environment of a failing deployment. The data stack gets a resource that cannot be created, after all other
 * resources.
 */
export const failingDeployment = { GW_VERIFY_FAIL: 'yes' };

/**
 * Text that is appended to the app. The emulator does not support metric math, so alarms watch a plain metric in the
 * emulator.
 */
const appChanges = `
import { CfnResource } from 'aws-cdk-lib';
import { CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch';
for (const node of app.node.findAll()) {
  if (!(node instanceof CfnAlarm) || node.metrics === undefined) continue;
  Object.assign(node, { metrics: undefined, namespace: 'gw', metricName: 'Requests', statistic: 'Sum', period: 300 });
}
for (const { data } of process.env.GW_VERIFY_FAIL === 'yes' ? app.node.children : []) {
  const ServiceToken = 'arn:aws:lambda:${region}:${account}:function:none';
  const failing = new CfnResource(data, 'Failing', { type: 'Custom::Failing', properties: { ServiceToken } });
  for (const child of data.node.children) if (child !== failing) failing.node.addDependency(child);
}
app.synth();
`;

const copied = ['LICENSE', 'cdk.json', 'package.json', 'functions', 'infra', 'shared'];

export function copyProject(): ProjectCopy {
  const folder = mkdtempSync(join(tmpdir(), 'gw-verify-'));
  for (const name of copied) cpSync(join(projectRoot, name), join(folder, name), { recursive: true });
  symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
  const app = join(folder, 'infra/cdk/app.ts');
  const appText = readFileSync(app, 'utf8');
  if (!appText.includes('app.synth();')) throw new Error('infra/cdk/app.ts has no app.synth() to change');
  writeFileSync(app, appText.replace('app.synth();', appChanges));
  const settings = join(folder, 'infra/cdk/stage-settings.ts');
  renameSync(settings, join(folder, 'infra/cdk/committed-settings.ts'));
  const copy: ProjectCopy = {
    folder,
    writeSettings: (changes) => writeFileSync(settings, settingsText(changes)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  copy.writeSettings({});
  return copy;
}

const settingsText = (changes: object): string => `import { stageSettings as committed } from './committed-settings.ts';
const changes = ${JSON.stringify(changes)};
const change = ([stage, settings]) => [stage, { ...settings, ...changes[stage] }];
export const stageSettings = Object.fromEntries(Object.entries(committed).map(change));
`;
