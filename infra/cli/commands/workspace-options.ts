// What may be set of a workspace, as options of `workspaces create` and `workspaces update`.
import { type WorkspaceChanges, written } from '../../../shared/configuration/workspaces/index.ts';
import { formatUsd, type PicoUsd } from '../../../shared/foundation/money/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readChoice, readOrNone, readPositiveInteger, readUsd, UsageError } from '../args/option-values.ts';
import { orNull, readModels, readReset } from './key-options.ts';

const readSwitch = readChoice(['on', 'off']);
type Switch = ReturnType<typeof readSwitch>;
const readCollection = readChoice(['allow', 'deny', 'none']);

function readRegions(name: string, text: string): string[] {
  const regions = text.split(',').map((region) => region.trim());
  if (regions.every((region) => /^[a-z][a-z0-9-]{1,31}$/.test(region))) return regions;
  throw new UsageError(`${name} takes codes of regions or countries in lower case, as in eu,us`);
}

function readValidity(name: string, text: string): string {
  if (text === 'none' || /^[1-9]\d{0,4}[hdw]$/.test(text)) return text;
  throw new UsageError(`${name} is none, or a length of time such as 12h, 30d or 8w`);
}

/** What is left out stays, or has its default. */
export interface WorkspaceOptions {
  readonly spendLimit?: PicoUsd | 'none';
  readonly concurrency?: number | 'none';
  readonly functionConcurrency?: number | 'none';
  readonly models?: string[] | 'all';
  readonly zdr?: Switch;
  readonly dataCollection?: ReturnType<typeof readCollection>;
  readonly dataResidency?: string[] | 'none';
  readonly byok?: Switch;
  readonly presets?: Switch;
  readonly memberKeys?: number | 'none';
  readonly memberRpm?: number | 'none';
  readonly memberConcurrency?: number | 'none';
  readonly memberSpendLimit?: PicoUsd | 'none';
  readonly memberSpendLimitReset?: ReturnType<typeof readReset>;
  readonly memberExpiresIn?: string;
}

export const settingOptions = (command: CommandLine): CommandLine =>
  command
    .takesOption('--spend-limit <USD>', 'a cap on all that it spends; none: no limit', readOrNone(readUsd))
    .takesOption('--concurrency <N>', 'its calls in flight; none: no limit of its own', readOrNone(readPositiveInteger))
    .takesOption(
      '--function-concurrency <N>',
      'its calls of functions in flight; none: no limit of its own',
      readOrNone(readPositiveInteger),
    )
    .takesOption('--models <IDS>', 'ids with commas between them, or all', readModels)
    .takesOption('--zdr <SWITCH>', 'on: only providers that keep nothing; off: not enforced', readSwitch)
    .takesOption('--data-collection <POLICY>', 'deny: only providers that do not train; allow, or none', readCollection)
    .takesOption(
      '--data-residency <REGIONS>',
      'only providers there, such as eu,us; none: anywhere',
      readOrNone(readRegions),
    )
    .takesOption('--byok <SWITCH>', 'on: its own keys of providers may be used', readSwitch)
    .takesOption('--presets <SWITCH>', 'on: its presets may be used', readSwitch)
    .takesOption('--member-keys <N>', 'how many keys a member may make; none: none', readOrNone(readPositiveInteger))
    .takesOption(
      '--member-rpm <N>',
      'requests per minute of each of these keys, at most',
      readOrNone(readPositiveInteger),
    )
    .takesOption('--member-concurrency <N>', 'calls in flight of each, at most', readOrNone(readPositiveInteger))
    .takesOption('--member-spend-limit <USD>', 'what each may spend, at most', readOrNone(readUsd))
    .takesOption('--member-spend-limit-reset <P>', 'daily, weekly or monthly: its spending starts again', readReset)
    .takesOption(
      '--member-expires-in <TIME>',
      'when each ends at the latest: 12h, 30d or 8w; none: never',
      readValidity,
    );

/** What is not said is not there. */
export function toWorkspaceChanges(id: string, options: WorkspaceOptions): WorkspaceChanges {
  const { spendLimit, concurrency, functionConcurrency, models, byok, presets } = options;
  const { zdr, dataCollection, dataResidency } = options;
  const data_policy = written({
    zdr: zdr && (zdr === 'on' ? true : null),
    data_collection: orNull(dataCollection),
    data_residency: orNull(dataResidency),
  });
  const features = written({ byok: byok && byok === 'on', presets: presets && presets === 'on' });
  const settings = {
    spend_limit_usd: usdOrNull(spendLimit),
    concurrency: orNull(concurrency),
    function_concurrency: orNull(functionConcurrency),
    models,
    member_keys: membersMake(options),
    data_policy: isEmpty(data_policy) ? undefined : data_policy,
    features: isEmpty(features) ? undefined : features,
  };
  return { id, ...written(settings) };
}

function membersMake({ memberKeys: max, ...options }: WorkspaceOptions) {
  const limits = written({
    max: max === 'none' ? undefined : max,
    rpm: orNull(options.memberRpm),
    concurrency: orNull(options.memberConcurrency),
    spend_limit_usd: usdOrNull(options.memberSpendLimit),
    spend_limit_reset: orNull(options.memberSpendLimitReset),
    expires_in: orNull(options.memberExpiresIn),
  });
  if (max !== 'none') return isEmpty(limits) ? undefined : limits;
  if (isEmpty(limits)) return null;
  throw new UsageError('--member-keys none leaves no key that the others could limit');
}

const usdOrNull = (amount: PicoUsd | 'none' | undefined) =>
  typeof amount === 'bigint' ? formatUsd(amount) : orNull(amount);

const isEmpty = (members: object): boolean => Object.keys(members).length === 0;
