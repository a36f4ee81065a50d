// Stages as the deployment sees them, around a stub in place of the bundles. The test files of a run share each stage:
// the first that asks for it synthesizes it, the others of its worker get the same templates, and other workers read
// them from a file. No test changes a stage.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import type { StageSettings } from '../../infra/cdk/settings-schema.ts';
import { GatewayStage } from '../../infra/cdk/stage.ts';
import { stageSettings } from '../../infra/cdk/stage-settings.ts';
import type { ThisDeployment } from '../../infra/cdk/this-deployment.ts';
import type { TableName } from '../../shared/foundation/constants/index.ts';
import { runFolder, temporaryFolder } from '../support/temporary-folder.ts';

export interface SynthesizedStage {
  readonly settings: StageSettings;
  readonly data: Template;
  readonly api: Template;
  readonly terminationProtection: boolean;
  /** The account and region for which the stage is synthesized, as cdk writes them. */
  readonly environment: string;
  readonly stackTags: Readonly<Record<string, string>>;
  /** Findings of AwsSolutions without an acknowledgement, as `rule at construct`. */
  readonly findings: readonly string[];
}

const cdkJson = createRequire(import.meta.url)('../../cdk.json') as { context: Record<string, unknown> };
/** The context leaves out a copy of each asset, which no test reads. */
export const cdkContext = { ...cdkJson.context, 'aws:cdk:disable-asset-staging': true };

const createStubBundles = (): string => {
  const root = temporaryFolder();
  for (const [name, file] of Object.entries({
    gateway: 'index.cjs',
    models: 'index.cjs',
    operator: 'index.cjs',
    container: 'index.cjs',
  })) {
    mkdirSync(join(root, name));
    writeFileSync(join(root, name, file), 'exports.handler = async () => {};');
    if (name === 'operator') {
      mkdirSync(join(root, name, 'page'));
      for (const page of ['index.html', 'main-0a1b2c3d.js']) writeFileSync(join(root, name, 'page', page), '');
    }
    if (name === 'container') writeFileSync(join(root, name, 'Dockerfile'), 'FROM node AS container');
  }
  return root;
};

let bundles: string | undefined;
/** Returns a folder with a stub of each bundle. */
export function stubBundles(): string {
  bundles ??= createStubBundles();
  return bundles;
}

const synthesized = new Map<string, SynthesizedStage>();

interface SynthesisOptions extends ThisDeployment {
  readonly commit?: string;
  readonly withoutTables?: readonly TableName[];
}

/** Synthesizes a stage of the settings table; `overrides` replaces some of its settings. */
export function synthesizeStage(
  stage: string,
  overrides: Partial<StageSettings> = {},
  options: SynthesisOptions = {},
): SynthesizedStage {
  const known = stageSettings[stage];
  if (known === undefined) throw new Error(`there is no stage ${stage}`);
  const settings = { ...known, ...overrides };
  const id = JSON.stringify([stage, overrides, options]);
  const found = synthesized.get(id) ?? {
    ...withTemplates(readOrWrite(id, () => synthesize(stage, settings, options))),
    settings,
  };
  synthesized.set(id, found);
  return found;
}

type StageText = Omit<SynthesizedStage, 'settings' | 'data' | 'api'> & Record<'data' | 'api', Record<string, unknown>>;

const withTemplates = ({ data, api, ...stage }: StageText): Omit<SynthesizedStage, 'settings'> => ({
  ...stage,
  data: Template.fromJSON(data),
  api: Template.fromJSON(api),
});

/** Two workers that need the same stage at once both synthesize it, and write the same. */
function readOrWrite(id: string, synthesizeText: () => StageText): StageText {
  const file = join(runFolder(), `stage-${createHash('sha256').update(id).digest('hex')}.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as StageText;
  const text = synthesizeText();
  const temporaryFile = `${file}.${process.pid}`;
  writeFileSync(temporaryFile, JSON.stringify(text));
  renameSync(temporaryFile, file);
  return text;
}

function synthesize(
  stage: string,
  settings: StageSettings,
  { withoutTables = [], commit = 'a1b2c3d', ...deployment }: SynthesisOptions,
): StageText {
  // The tree of constructs is left out, because no test reads it.
  const app = new App({ context: cdkContext, outdir: temporaryFolder(), treeMetadata: false });
  const { data, api } = new GatewayStage(app, stage, {
    settings,
    bundlesRoot: stubBundles(),
    commit,
    deployment,
  });
  // The template is that of a release from before these tables.
  for (const table of withoutTables) {
    for (const id of [`Table-${table}`, `Table${table}`]) data.node.tryRemoveChild(id);
  }
  const report = new AwsSolutionsChecks(app).validateScope(app);
  return {
    data: Template.fromStack(data).toJSON(),
    api: Template.fromStack(api).toJSON(),
    terminationProtection: data.terminationProtection,
    environment: data.environment,
    stackTags: data.tags.tagValues(),
    findings: report.violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ constructPath }) => `${ruleName} at ${constructPath}`),
    ),
  };
}

interface Resource {
  readonly Type: string;
  readonly Properties: Record<string, unknown>;
  readonly DeletionPolicy?: string;
  readonly DependsOn?: readonly string[];
}

/** Returns every resource of a type with its logical id. */
export const resourcesOf = (template: Template, type: string): ReadonlyArray<Resource & { readonly id: string }> =>
  Object.entries(template.findResources(type) as Record<string, Resource>).map(([id, resource]) => ({
    id,
    ...resource,
  }));
