// Reads the arguments of `npm run deploy`, and plans the runs of cdk that follow from them. An option that this script
// does not know is refused, because something else would be deployed than the operator wanted.
import { parseArgs } from 'node:util';
import { checkSettings } from '../check-settings.ts';
import type { StageSettings } from '../settings-schema.ts';
import { contextOf, type ThisDeployment } from '../this-deployment.ts';

const usage =
  'npm run deploy -- --stage NAME [--profile NAME] [--region NAME] [--yes] [--adopt] [-- flags of cdk deploy]';

export interface DeployOptions {
  readonly stage: string;
  readonly settings: StageSettings;
  readonly profile: string | undefined;
  readonly region: string | undefined;
  /** Whether every question is answered with yes. */
  readonly isConfirmed: boolean;
  /** Whether existing resources outside the stack are imported. */
  readonly isAdopting: boolean;
  /** Flags for cdk, after the stacks. */
  readonly flags: readonly string[];
}

const ownOptions = {
  stage: { type: 'string' },
  profile: { type: 'string' },
  region: { type: 'string' },
  /** Asks no question; for unattended runs. */
  yes: { type: 'boolean', short: 'y' },
  /** Imports tables and bucket that a former deployment of this stage left behind. */
  adopt: { type: 'boolean' },
} as const;

/** Reads the arguments. Throws an Error with one line for the terminal. */
export function readDeployOptions(
  args: readonly string[],
  stages: Readonly<Record<string, StageSettings>>,
): DeployOptions {
  const { deployOptions, flags: others } = splitArguments(args);
  const { stage, profile, region, yes: isConfirmed = false, adopt: isAdopting = false } = deployOptions;
  const known = `known: ${Object.keys(stages).join(', ')}`;
  if (stage === undefined) throw new Error(`--stage is missing (${known}); usage: ${usage}`);
  const settings = stages[stage];
  if (settings === undefined) {
    throw new Error(`there is no stage ${stage} (${known}); add it to infra/cdk/stage-settings.ts`);
  }
  checkSettings(stage, settings);
  if (isAdopting && settings.removal === 'destroy') {
    throw new Error(`--adopt needs removal: 'retain' in the settings of ${stage}: see infra/cdk/README.md`);
  }
  const flags = [
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...(region === undefined ? [] : ['--region', region]),
    ...(isConfirmed ? ['--yes', '--require-approval', 'never'] : []),
    ...others,
  ];
  return { stage, settings, profile, region, isConfirmed, isAdopting, flags };
}

/**
 * Separates the arguments after `--`, which are for cdk. Options of this script come before it, because the script
 * checks the account that they name.
 */
function splitArguments(args: readonly string[]) {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const flags = args.slice(end + 1);
  const misplaced = flags.find((flag) => Object.hasOwn(ownOptions, /^--([^=]+)/.exec(flag)?.[1] ?? ''));
  if (misplaced !== undefined) throw new Error(`${misplaced} stands before --; usage: ${usage}`);
  try {
    return { deployOptions: parseArgs({ args: args.slice(0, end), options: ownOptions }).values, flags };
  } catch (error) {
    const [reason] = (error as Error).message.split(/\.\s/);
    const others = 'what a stage is stands in infra/cdk/stage-settings.ts, and flags of cdk deploy stand behind --';
    throw new Error(`${reason}; ${others}; usage: ${usage}`, { cause: error });
  }
}

/** Statuses of a stack that was never created successfully. cdk deletes its remains. */
const neverCreated = ['REVIEW_IN_PROGRESS', 'CREATE_FAILED', 'ROLLBACK_COMPLETE', 'ROLLBACK_FAILED'];

/**
 * Returns the arguments of each run of cdk. Protection of the data stack is switched on after its first success. A
 * failed first deployment could not be removed otherwise, and would block every later deployment.
 */
export function cdkRuns(
  { stage, settings, flags }: DeployOptions,
  dataStackStatus: string | undefined,
  { isImportingRestored = false, ...deployment }: ThisDeployment,
  place: string,
): string[][] {
  const isFirst = dataStackStatus === undefined || neverCreated.includes(dataStackStatus);
  const isProtected = settings.deletionProtection || settings.terminationProtection;
  const run = (stacks: string, change: ThisDeployment) => {
    const imports = change.importsIn === undefined ? [] : ['--import-existing-resources'];
    return ['deploy', `${stage}/${stacks}`, ...contextOf(stage, change), ...imports, ...flags];
  };
  const all = run('*', deployment);
  // CloudFormation imports a table unchanged, and applies its template's settings when that changes; so it takes two
  // steps.
  if (isImportingRestored) return [run('data', { importsIn: place, isImportingRestored }), all];
  return isFirst && isProtected ? [run('data', { ...deployment, firstDeployment: true }), all] : [all];
}

// Returns advice if plain cdk was started without a stage.
export const stagesLine = (names: readonly string[]): string => {
  const [first = 'NAME'] = names;
  return `stages: ${names.join(', ')}. cdk needs one named: npx cdk deploy '${first}/*'; with all checks: npm run deploy -- --stage ${first}\n`;
};
