// Limits and rules of a key as options of `keys create`, `keys rotate` and `keys update`.
import { isKeyExpired } from '../../../shared/configuration/keys/index.ts';
import { duration } from '../../../shared/configuration/value-forms/index.ts';
import { type ContentKeep, contentKeeps, spendLimitResets } from '../../../shared/foundation/constants/index.ts';
import { instantOf } from '../../../shared/foundation/time/index.ts';
import { type Tags, tagsMax } from '../../../shared/protocol/wire/index.ts';
import { input, type LaterValue, type LineInput } from '../args/call-command.ts';
import {
  readChoice,
  readMoreTags,
  readOrNone,
  readPositiveInteger,
  readTime,
  readUsd,
  UsageError,
} from '../args/option-values.ts';

export const expiresForm = '2027-01-01, 2027-01-01T12:00:00Z, or a length of time such as 90d';
const instantShape = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

/** An instant, once the time of the command is known. */
export const readExpires = readOrNone(
  (name: string, text: string): ((session: Parameters<LaterValue>[0]) => string) => {
    const inMs = readTime(text);
    const atMs = instantShape.test(text) ? Date.parse(text) : Number.NaN;
    if (inMs === undefined && Number.isNaN(atMs)) throw new UsageError(`${name} is ${expiresForm}`);
    return ({ clock }) => {
      const nowMs = clock.nowMs();
      const expiresAtMs = inMs === undefined ? atMs : nowMs + inMs;
      if (!isKeyExpired({ expiresAtMs }, nowMs)) return instantOf(expiresAtMs);
      throw new UsageError('--expires is not in the future; keys revoke ends a key now');
    };
  },
);

/** In the form of requests. */
export function readGrace(name: string, text: string): string {
  if (duration.safeParse(text).success) return text;
  throw new UsageError(`${name} is a length of time of at most a year: 90s, 15m, 24h, 7d`);
}

export const readReset = readOrNone(readChoice([...spendLimitResets, 'none']));

/** `30d`, or `30d:0.1` for a tenth of the calls. */
export const readContentLog = readOrNone((name: string, text: string) => {
  const [written = '', share, ...more] = text.split(':');
  const keep = contentKeeps.find((one): one is ContentKeep => one === written);
  const isShare = share === undefined || /^(0(\.\d+)?|1(\.0+)?)$/.test(share);
  if (keep !== undefined && isShare && more.length === 0) {
    return { keep, ...(share === undefined ? {} : { share: Number(share) }) };
  }
  throw new UsageError(
    `${name} is none, or one of ${contentKeeps.join(', ')}, with :SHARE from 0 to 1 behind it or not`,
  );
});

export function readModels(name: string, text: string): string[] | 'all' {
  return text === 'all' ? 'all' : idsIn(text, `${name} is all, or ids of models with commas between them`);
}

/** `none`: an empty list. */
export const readIds = (name: string, text: string): string[] =>
  text === 'none' ? [] : idsIn(text, `${name} is none, or ids with commas between them`);

function idsIn(text: string, advice: string): string[] {
  const ids = text.split(',').map((id) => id.trim());
  if (ids.includes('')) throw new UsageError(advice);
  return ids;
}

/** `none` alone removes the stored tags. */
const noTags: Tags = {};

function readKeyTags(name: string, text: string, former: unknown): Tags {
  if (text === 'none' && former === undefined) return noTags;
  if (former === noTags) throw new UsageError(`${name} is none, or tags`);
  const tags = readMoreTags(name, text, former);
  if (Object.keys(tags).length <= tagsMax) return tags;
  throw new UsageError(`${name} gives a key at most ${tagsMax} tags`);
}

/** `absent`: how a line says that there is no such limit or rule. */
export function keyOptions(absent: 'left out' | 'none'): readonly LineInput[] {
  const orNone = absent === 'none' ? readOrNone : <Value>(read: (name: string, text: string) => Value) => read;
  return [
    input('--rpm <N>', 'body.rpm', orNone(readPositiveInteger), `requests per minute; ${absent}: no limit`),
    input('--tpm <N>', 'body.tpm', orNone(readPositiveInteger), `tokens per minute; ${absent}: no limit`),
    input(
      '--concurrency <N>',
      'body.concurrency',
      orNone(readPositiveInteger),
      `calls in flight; ${absent}: the default of the service`,
    ),
    input(
      '--spend-limit <USD>',
      'body.spend_limit_usd',
      orNone(readUsd),
      `what the key may spend; ${absent}: no limit`,
    ),
    input(
      '--spend-limit-reset <P>',
      'body.spend_limit_reset',
      readReset,
      `when the spend limit resets: daily, weekly or monthly (UTC); ${absent}: never`,
    ),
    input('--expires <WHEN>', 'body.expires_at', readExpires, `${expiresForm}; ${absent}: never`),
    input(
      '--models <IDS>',
      'body.models',
      readModels,
      `ids with commas between them; ${absent === 'none' ? 'all' : absent}: all of the workspace`,
    ),
    input(
      '--content-log <KEEP>',
      'body.content_log',
      readContentLog,
      `keeps less of its calls than the workspace does: 7d, or 7d:0.1 for a tenth of them; ${absent}: as the workspace`,
    ),
    input(
      '--guardrails <IDS>',
      'body.guardrails',
      readIds,
      `ids with commas between them, beside those of the workspace; ${absent}: no others`,
    ),
    input('--tag <NAME=VALUE>', 'body.tags', undefined, `on each of its calls; may be repeated; ${absent}: no tags`, {
      readAll: readKeyTags,
    }),
  ];
}
