// cfn-lint over the templates of all stages as they are set, and of what else a stage may be: tasks in each of their networks, a move
// between functions and tasks, the console.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { unknownCommit } from '../cdk/deployment/commit.ts';
import type { StageSettings } from '../cdk/settings-schema.ts';
import { GatewayStage, type GatewayStageProps } from '../cdk/stage.ts';
import { stageSettings } from '../cdk/stage-settings.ts';
import { projectRoot, pythonProgram, runCommand, type Step } from './verify-step.ts';

/** Resources that depend on what they already refer to: CDK writes such lines, and they do no harm. */
const ignoredChecks = 'W3005';
/** Property values and resource types differ between regions: old ones, some whose zones CloudFront does not all serve, a younger one. */
const regions = ['us-east-1', 'us-west-1', 'eu-west-1', 'eu-central-1', 'ap-northeast-2', 'ap-southeast-3'];

const tasks = { compute: 'container', console: true, consoleSharesTaskRole: true } as const;
/** In place of members of `prod`, with what a deployment may say beside them. */
const variants: readonly (readonly [Partial<StageSettings>, Partial<GatewayStageProps>?])[] = [
  [{ console: true, sign_in: { issuer: 'https://id.example.com', client_id: 'gw' } }],
  [{ ...tasks, telemetry: { cloudwatch: true }, bedrockRegions: ['stage-region'] }],
  [
    {
      ...tasks,
      edge: 'none',
      customDomain: {
        domainNames: ['llm.example.com'],
        certificateArn: 'arn:aws:acm:eu-west-1:111122223333:certificate/11111111-2222-3333-4444-555555555555',
      },
    },
  ],
  [
    {
      ...tasks,
      vpc: {
        id: 'vpc-0123456789abcdef0',
        subnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
        availabilityZones: ['eu-west-1a', 'eu-west-1b'],
      },
    },
  ],
  [{ ...tasks, canary: null, zones: ['euw1-az1', 'euw1-az2', 'euw1-az3'] }],
  [{ console: true, canary: null, tableSuffix: '-then' }],
  [{ tableSuffix: '-then' }, { isImportingRestored: true, isAtOnce: true }],
  [tasks, { alsoRuns: 'functions' }],
  [{ console: true }, { alsoRuns: 'container' }],
];

/** Where the templates are, each variant in a folder of its own. */
function synthesizeVariants(folder: string): void {
  const cdkJson = readFileSync(join(projectRoot, 'cdk.json'), 'utf8');
  const { context } = JSON.parse(cdkJson) as { readonly context: Record<string, unknown> };
  const { prod } = stageSettings;
  if (prod === undefined) throw new Error('the settings have no stage prod');
  for (const [at, [overrides, props]] of variants.entries()) {
    const app = new App({ context, outdir: join(folder, String(at)) });
    const bundlesRoot = join(projectRoot, 'dist');
    new GatewayStage(app, 'prod', {
      settings: { ...prod, ...overrides },
      bundlesRoot,
      commit: unknownCommit,
      ...props,
    });
    app.synth();
  }
}

export const cfnLint: Step = {
  name: 'cfn-lint',
  async run() {
    const program = await pythonProgram('cfn-lint==1.58.0', 'cfn-lint');
    const folder = mkdtempSync(join(tmpdir(), 'gw-verify-'));
    try {
      // Builds the bundles too.
      await runCommand('npm', ['run', '--silent', 'synth']);
      synthesizeVariants(folder);
      const templates = [join(projectRoot, 'cdk.out'), join(folder, '*')].map((place) =>
        join(place, 'assembly-*/*.template.json'),
      );
      const options = ['--ignore-checks', ignoredChecks, '--regions', ...regions];
      await runCommand(program, [...options, '--', ...templates], { cwd: projectRoot });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    return `no finding in the templates of ${Object.keys(stageSettings).length} stages and ${variants.length} variants, tasks among them, in ${regions.join(', ')}`;
  },
};
