// Checks whether the settings of a stage are valid, and whether they belong to the account and region of the shell.
// CloudFormation would report the same mistakes half an hour into a deployment.
import { z } from 'zod';
import { tasksDefault } from './constructs/task-size.ts';
import { providerSecretName } from './resource-names.ts';
import { type StageSettings, settingsShape } from './settings-schema.ts';
import { stageShape } from './settings-values.ts';

/** Fields that are only valid together with another field. */
const rules: ReadonlyArray<[member: string, isBroken: (settings: StageSettings) => boolean, text: string]> = [
  [
    'tasks.min',
    ({ tasks = tasksDefault, compute, removal }) => compute === 'container' && removal === 'retain' && tasks.min < 2,
    "must be at least 2 where removal is 'retain'",
  ],
  [
    'consoleSharesTaskRole',
    ({ consoleSharesTaskRole, console, compute }) =>
      compute === 'container' && console === true && consoleSharesTaskRole !== true,
    "must be true with compute: 'container' and console: true: the role of the tasks, which take clients' calls, has the rights of operators too",
  ],
  ['zones', ({ zones, vpc }) => zones !== undefined && vpc !== undefined, 'has no effect beside vpc'],
  ['sign_in', ({ sign_in, console }) => Boolean(sign_in) && console !== true, 'needs console: true'],
  [
    'customDomain',
    ({ customDomain, edge, compute }) => customDomain !== null && edge === 'none' && compute === 'functions',
    "needs edge: 'cloudfront', or compute: 'container'",
  ],
  [
    'customDomain',
    ({ customDomain, edge, compute }) => customDomain === null && edge === 'none' && compute === 'container',
    "must be set: with compute: 'container' and edge: 'none' clients call by its names",
  ],
  [
    'customDomain.certificateArn',
    ({ customDomain, edge }) =>
      edge === 'cloudfront' && customDomain !== null && placeOf(customDomain.certificateArn).region !== 'us-east-1',
    'must be the ARN of an ACM certificate in us-east-1',
  ],
  [
    'customDomain.certificateArn',
    ({ edge, region, customDomain }) =>
      edge === 'none' &&
      region != null &&
      customDomain !== null &&
      placeOf(customDomain.certificateArn).region !== region,
    'must be of the region of the stage',
  ],
  ['webAclArn', ({ webAclArn, edge }) => webAclArn !== null && edge === 'none', "needs edge: 'cloudfront'"],
  [
    'deletionProtection',
    ({ deletionProtection, removal }) => deletionProtection && removal === 'destroy',
    "needs removal: 'retain'",
  ],
  [
    'tableSuffix',
    ({ tableSuffix, removal }) => tableSuffix !== undefined && removal === 'destroy',
    "needs removal: 'retain'",
  ],
  ['adopt', ({ adopt, removal }) => adopt !== null && removal === 'destroy', "needs removal: 'retain'"],
];

interface AccountRegion {
  readonly account: string;
  readonly region: string;
}

/** Returns whether the stage may be in this account and region. */
const isIn = ({ account, region }: Pick<StageSettings, 'account' | 'region'>, place: AccountRegion): boolean =>
  (account ?? place.account) === place.account && (region ?? place.region) === place.region;

function placeOf(arn: string): AccountRegion {
  const [, , , region = '', account = ''] = arn.split(':');
  return { account, region };
}

/**
 * Throws one line if the account or region of the stage, or of a resource that it adopts, is not the account or region
 * of the shell.
 */
export function checkPlace(stage: string, settings: StageSettings, shell: AccountRegion): void {
  const is = ({ account, region }: AccountRegion) => `account ${account}, region ${region}`;
  if (!isIn(settings, shell)) {
    const { account = null, region = null } = settings;
    throw new Error(
      `stage ${stage} belongs to ${is({ account: account ?? 'any', region: region ?? 'any' })} (stage-settings.ts); this shell is in ${is(shell)}`,
    );
  }
  const { adopt, encryptionKeyArn } = settings;
  const adopted = [adopt?.keyArn, adopt?.secretArn].filter((arn) => arn != null);
  const foreign = adopted.find((arn) => !isIn(placeOf(arn), shell));
  if (foreign !== undefined) {
    throw new Error(`stage ${stage} adopts what is in ${is(placeOf(foreign))}; this shell is in ${is(shell)}`);
  }
  if (encryptionKeyArn !== undefined && placeOf(encryptionKeyArn).region !== shell.region) {
    throw new Error(`stage ${stage}: the key of encryptionKeyArn is not in ${shell.region}, the region of this shell`);
  }
}

/**
 * Returns a line with the settings that only apply to billing by the request, if the stage has provisioned capacity;
 * undefined if all settings apply.
 */
export function describeUnheld(stage: string, settings: StageSettings): string | undefined {
  const onDemandOnly = ['tableReadsPerSecondMax', 'tableWritesPerSecondMax', 'tableWarmWritesPerSecond'] as const;
  const unheld = onDemandOnly.filter((name) => settings.tableCapacity !== undefined && settings[name] !== null);
  return unheld.length === 0
    ? undefined
    : `stage ${stage}: beside tableCapacity these do not hold: ${unheld.join(', ')}`;
}

/** Throws one Error that names every invalid field. */
export function checkSettings(stage: string, settings: StageSettings): void {
  const problems = stageShape.test(stage) ? [] : ['its name must be 1 to 26 lower-case letters, digits or -'];
  const parsed = settingsShape.safeParse(settings);
  if (!parsed.success) {
    problems.push(...parsed.error.issues.map(({ path, message }) => `${z.core.toDotPath(path)} ${message}`.trim()));
  } else {
    problems.push(
      ...rules.flatMap(([member, isBroken, reason]) => (isBroken(settings) ? [`${member} ${reason}`] : [])),
    );
    const secret = settings.adopt?.secretArn;
    const name = providerSecretName(stage);
    if (secret != null && !secret.slice(0, -'-abcdef'.length).endsWith(`:secret:${name}`)) {
      problems.push(`adopt.secretArn must be the ARN of the secret ${name}`);
    }
  }
  if (problems.length > 0) throw new Error(`stage ${stage}: ${problems.join('; ')}`);
}
