// Settings of a workspace as options of `workspaces create` and `workspaces update`. Absent ones are not sent.
import { input, type LineInput, type LineRequest } from '../args/call-command.ts';
import {
  none,
  readAs,
  readChoice,
  readOrNone,
  readPositiveInteger,
  readUsd,
  UsageError,
} from '../args/option-values.ts';
import { readContentLog, readIds, readModels, readReset } from './key-options.ts';

const readSwitch = readAs(readChoice(['on', 'off']), (word) => word === 'on');
/** Switching a policy off removes it. */
const readDemand = readAs(readSwitch, (isOn) => isOn || none);

function readRegions(name: string, text: string): string[] {
  const regions = text.split(',').map((region) => region.trim());
  if (regions.every((region) => /^[a-z][a-z0-9-]{1,31}$/.test(region))) return regions;
  throw new UsageError(`${name} takes codes of regions or countries in lower case, as in eu,us`);
}

function readValidity(name: string, text: string): string {
  if (/^[1-9]\d{0,4}[hdw]$/.test(text)) return text;
  throw new UsageError(`${name} is none, or a length of time such as 12h, 30d or 8w`);
}

const count = readOrNone(readPositiveInteger);
const usd = readOrNone(readUsd);
export const workspaceOptions: readonly LineInput[] = [
  input('--spend-limit <USD>', 'body.spend_limit_usd', usd, 'a cap on all that it spends; none: no limit'),
  input('--tpm <N>', 'body.tpm', count, 'its tokens per minute; none: no limit'),
  input('--concurrency <N>', 'body.concurrency', count, 'its calls in flight; none: no limit of its own'),
  input(
    '--function-concurrency <N>',
    'body.function_concurrency',
    count,
    'its calls of functions in flight; none: no limit of its own',
  ),
  input('--models <IDS>', 'body.models', readModels, 'ids with commas between them, or all'),
  input(
    '--guardrails <IDS>',
    'body.guardrails',
    readIds,
    'they check all its calls; ids with commas between them, or none',
  ),
  input(
    '--zdr <SWITCH>',
    'body.data_policy.zdr',
    readDemand,
    'on: only providers that keep nothing; off: not enforced',
  ),
  input(
    '--data-collection <POLICY>',
    'body.data_policy.data_collection',
    readOrNone(readChoice(['allow', 'deny', 'none'])),
    'deny: only providers that do not train; allow, or none',
  ),
  input(
    '--data-residency <REGIONS>',
    'body.data_policy.data_residency',
    readOrNone(readRegions),
    'only providers there, such as eu,us; none: anywhere',
  ),
  input('--byok <SWITCH>', 'body.features.byok', readSwitch, 'on: its own keys of providers may be used'),
  input('--presets <SWITCH>', 'body.features.presets', readSwitch, 'on: its presets may be used'),
  input(
    '--content-log <KEEP>',
    'body.content_log',
    readContentLog,
    'keeps the bodies of its calls: 1d, 7d, 30d, 90d, 365d; 30d:0.1 those of a tenth; none: none from now on',
  ),
  input('--member-keys <N>', 'body.member_keys.max', count, 'how many keys a member may make; none: none'),
  input('--member-rpm <N>', 'body.member_keys.rpm', count, 'requests per minute of each of these keys, at most'),
  input('--member-concurrency <N>', 'body.member_keys.concurrency', count, 'calls in flight of each, at most'),
  input('--member-spend-limit <USD>', 'body.member_keys.spend_limit_usd', usd, 'what each may spend, at most'),
  input(
    '--member-spend-limit-reset <P>',
    'body.member_keys.spend_limit_reset',
    readReset,
    'when its spend limit resets: daily, weekly or monthly',
  ),
  input(
    '--member-expires-in <TIME>',
    'body.member_keys.expires_in',
    readOrNone(readValidity),
    'when each ends at the latest: 12h, 30d or 8w; none: never',
  ),
];

/** `--member-keys none`: members make no keys at all. Throws UsageError where others would limit them. */
export function checkMemberKeys({ body }: LineRequest): void {
  const { max, ...limits } = (body.member_keys ?? {}) as Record<string, unknown>;
  if (max !== null) return;
  if (Object.keys(limits).length > 0) {
    throw new UsageError('--member-keys none leaves no key that the others could limit');
  }
  body.member_keys = null;
}
