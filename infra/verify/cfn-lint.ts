// Runs cfn-lint over the templates of all stages, and of further variants in each of six regions: tasks in each kind of
// network, a change between functions and tasks, the console.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, type Stack } from 'aws-cdk-lib';
import { CfnSubnet } from 'aws-cdk-lib/aws-ec2';
import { unknownCommit } from '../cdk/deployment/commit.ts';
import type { StageSettings } from '../cdk/settings-schema.ts';
import { GatewayStage } from '../cdk/stage.ts';
import { stageSettings } from '../cdk/stage-settings.ts';
import type { ThisDeployment } from '../cdk/this-deployment.ts';
import { zonesByRegion } from '../cdk/zones.ts';
import { expectThat } from './smoke/smoke-client.ts';
import { projectRoot, pythonProgram, runCommand, type VerifyStep } from './verify-step.ts';

/** Redundant dependencies, which CDK writes and which do no harm. */
const ignoredChecks = 'W3005';
/**
 * Property values and resource types differ between regions. The list has old regions, regions with zones that
 * CloudFront does not serve, and a younger region.
 */
const regions = ['us-east-1', 'us-west-1', 'eu-west-1', 'eu-central-1', 'ap-northeast-2', 'ap-southeast-3'];
const account = '111122223333';

const tasks = { compute: 'container', console: true, consoleSharesTaskRole: true } as const;
type Variant = readonly [overrides: Partial<StageSettings>, deployment?: ThisDeployment];

const vpcIn = (region: string) => ({
  id: 'vpc-0123456789abcdef0',
  subnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
  availabilityZones: [`${region}a`, `${region}b`],
});
const ownKey = (region: string) => ({
  encryptionKeyArn: `arn:aws:kms:${region}:${account}:key/11111111-2222-3333-4444-555555555555`,
});

/** Returns variants that replace fields of `prod`, with options of a deployment. */
const variantsIn = (region: string): readonly Variant[] => [
  [{ console: true, sign_in: { issuer: 'https://id.example.com', client_id: 'gw' } }],
  [{ ...tasks, telemetry: { cloudwatch: true }, bedrockRegions: ['stage-region'] }],
  [
    {
      ...tasks,
      edge: 'none',
      customDomain: {
        domainNames: ['llm.example.com'],
        certificateArn: `arn:aws:acm:${region}:${account}:certificate/11111111-2222-3333-4444-555555555555`,
      },
    },
  ],
  [
    {
      ...tasks,
      vpc: vpcIn(region),
    },
  ],
  [{ ...tasks, canary: null }],
  [{ ...tasks, ...ownKey(region), metricsFrom: ['10.0.0.0/16', 'sg-0123456789abcdef0'], vpc: vpcIn(region) }],
  [{ console: true, ...ownKey(region), tableCapacity: { min: 10, max: 4_000 } }],
  [{ console: true, canary: null, tableSuffix: '-then' }],
  [{ tableSuffix: '-then' }, { importsIn: `${account}/${region}`, isImportingRestored: true, isAtOnce: true }],
  [tasks, { alsoRuns: 'functions' }],
  [{ console: true }, { alsoRuns: 'container' }],
];

/** Writes the templates of each variant into a folder of its own. */
function synthesizeVariants(folder: string, region: string): void {
  const cdkJson = readFileSync(join(projectRoot, 'cdk.json'), 'utf8');
  const { context } = JSON.parse(cdkJson) as { readonly context: Record<string, unknown> };
  const { prod } = stageSettings;
  if (prod === undefined) throw new Error('the settings have no stage prod');
  for (const [at, [overrides, deployment = {}]] of variantsIn(region).entries()) {
    const app = new App({ context, outdir: join(folder, region, String(at)) });
    const bundlesRoot = join(projectRoot, 'dist');
    const settings = { ...prod, account, region, ...overrides };
    const { api } = new GatewayStage(app, 'prod', { settings, bundlesRoot, commit: unknownCommit, deployment });
    checkZones(api, region);
    app.synth();
  }
}

/**
 * Checks that subnets of the stage's own network have zone ids in every region of the table, and in no other region.
 */
function checkZones(api: Stack, region: string): void {
  const { used = [] } = zonesByRegion[region] ?? {};
  for (const node of api.node.findAll()) {
    if (!(node instanceof CfnSubnet)) continue;
    const { availabilityZoneId: id } = node;
    const isRight = id === undefined ? used.length === 0 : used.some((zone) => zone === id);
    expectThat(isRight, `${region}: a subnet is in the zone ${id}`);
  }
}

export const cfnLint: VerifyStep = {
  name: 'cfn-lint',
  async run() {
    const program = await pythonProgram('cfn-lint==1.58.0', 'cfn-lint');
    const folder = mkdtempSync(join(tmpdir(), 'gw-verify-'));
    const lint = (place: string, ...inRegions: string[]) => {
      const options = ['--ignore-checks', ignoredChecks, '--regions', ...inRegions];
      return runCommand(program, [...options, '--', join(place, 'assembly-*/*.template.json')], { cwd: projectRoot });
    };
    try {
      // This builds the bundles too.
      await runCommand('npm', ['run', '--silent', 'synth']);
      await lint(join(projectRoot, 'cdk.out'), ...regions);
      for (const region of regions) {
        synthesizeVariants(folder, region);
        await lint(join(folder, region, '*'), region);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    const variants = variantsIn('').length;
    return `no finding in the templates of ${Object.keys(stageSettings).length} stages and ${variants} variants, tasks in zones of our own among them, in each of ${regions.join(', ')}`;
  },
};
