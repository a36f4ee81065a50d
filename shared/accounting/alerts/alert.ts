// Writes the document that a receiver gets, and signs it.
import { createHmac } from 'node:crypto';
import { formatUsd, type PicoUsd } from '../../foundation/money/index.ts';
import { instantOf } from '../../foundation/time/index.ts';

export const alertTypes = [
  'key_spend_limit',
  'workspace_spend_limit',
  'workspace_credit',
  'byok_budget',
  'provider_credential_refused',
  'provider_credential_empty',
  'provider_failing',
  'provider_back',
  'test',
] as const;
export type AlertType = (typeof alertTypes)[number];

/** Random bytes of an alert's id, which are enough for some thousand alerts a day. */
export const idBytes = 9;

export interface Alert {
  readonly type: AlertType;
  /** Id, the same in each try. */
  readonly id: string;
  readonly atMs: number;
  readonly workspace?: string | undefined;
  /** Name of the key. */
  readonly key?: string | undefined;
  readonly provider?: string | undefined;
  /** Position of the provider's credential, if it has several. */
  readonly credential?: number | undefined;
  readonly model?: string | undefined;
  readonly share?: PassedShare | undefined;
}

interface PassedShare {
  readonly percent: number;
  readonly spent: PicoUsd;
  readonly limit: PicoUsd;
  /** First day of the period, UTC. Null if the limit has none. */
  readonly period: string | null;
}

/** Writes the body, in which every field is present; null means that it does not apply. */
export function bodyOf(alert: Alert): string {
  const { type, id, atMs, workspace = null, key = null, provider = null, model = null, share } = alert;
  return JSON.stringify({
    text: textOf(alert),
    type,
    workspace,
    key,
    provider,
    model,
    percent: share?.percent ?? null,
    spent_usd: share ? formatUsd(share.spent) : null,
    limit_usd: share ? formatUsd(share.limit) : null,
    period: share?.period ?? null,
    id,
    at: instantOf(atMs),
  });
}

/** Signs the body. `t`: seconds since 1970. The signed text is `<t>.<body>`. */
export function signatureOf(body: string, secret: string, nowMs: number): string {
  const t = Math.floor(nowMs / 1_000);
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`;
}

/** Returns an example for descriptions of the body. */
export const alertBodyExample = () =>
  JSON.parse(
    bodyOf({
      ...{ type: 'key_spend_limit', id: '1mE9sZrXo0aV', atMs: Date.UTC(2026, 10, 21) },
      ...{ workspace: 'team-a', key: 'ci' },
      share: { percent: 80, spent: 4_020_000_000_000n, limit: 5_000_000_000_000n, period: '2026-11-01' },
    }),
  ) as Readonly<Record<string, unknown>>;

function textOf({ type, workspace, key, provider, credential, model, share }: Alert): string {
  const nameEntries = Object.entries({ workspace, key: key && plain(key), provider, credential, model });
  const names = nameEntries.flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]));
  const what = share === undefined ? wordsOf[type] : spentOf(share, wordsOf[type]);
  return `${['gw', names.join(', '), what].filter((part) => part !== '').join(': ')}.`;
}

const wordsOf: Readonly<Record<AlertType, string>> = {
  key_spend_limit: 'the spend limit of the key',
  workspace_spend_limit: 'the spend limit of the workspace',
  workspace_credit: 'the credit of the workspace',
  byok_budget: 'the budget of the BYOK connection',
  provider_credential_refused: 'the provider refuses the credential',
  provider_credential_empty: 'the account of the credential has no quota or credit left',
  provider_failing: 'calls of all workspaces fail',
  provider_back: 'calls are answered again',
  test: 'a test of service.alerts',
};

function spentOf({ percent, spent, limit, period }: PassedShare, what: string): string {
  const since = period === null ? '' : ` since ${period}`;
  return `${percent} % of ${what} is spent: ${formatUsd(spent)} of ${formatUsd(limit)} USD${since}`;
}

/** Replaces characters that chats read as links and mentions, because people of a workspace name keys themselves. */
const plain = (name: string): string => name.replace(/[<>&@`*_~|[\]()]/g, ' ');
