// `usage`: what was called, by whom or with what, and what it cost, from the call records.
import { type UsageGrouping, usageGroupings } from '../../../shared/accounting/call-records/index.ts';
import type { Command, Outcome, Session } from '../command.ts';
import type { OpenTarget } from '../open-target.ts';
import { totalOf, usageJson, usageTable } from '../output/usage-table.ts';
import { readUsage } from '../read-usage.ts';
import { readSince } from '../since.ts';
import { storesOn } from '../stores.ts';
import { readChoice, readId, readOptional } from '../values.ts';
import { listWorkspaces, readWorkspace } from '../workspaces.ts';

const sinceDefault = '7d';

interface Question {
  readonly workspace: string | undefined;
  readonly since: string;
  readonly by: UsageGrouping;
}

export const usageCommand: Command<OpenTarget> = {
  name: 'usage',
  summary: 'calls, tokens and cost from the call records, with a bar chart',
  options: {
    workspace: { value: 'W', summary: 'of this workspace only' },
    since: { value: 'WHEN', summary: `7d, 12h, or a day of UTC such as 2026-11-01; default ${sinceDefault}` },
    by: { value: 'GROUP', summary: `${usageGroupings.join(', ')}; default model` },
  },
  notes: ['Records are kept for 90 days. Cost includes what callers paid with their own provider keys (BYOK).'],
  prepare: (input) => {
    const question: Question = {
      workspace: readOptional(readId, '--workspace', input.text('workspace')),
      since: input.text('since') ?? sinceDefault,
      by: readOptional(readChoice(usageGroupings), '--by', input.text('by')) ?? 'model',
    };
    return (session) => answer(session, question);
  },
};

async function answer(session: Session<OpenTarget>, { workspace, since, by }: Question): Promise<Outcome> {
  const nowMs = session.clock.nowMs();
  const sinceMs = readSince('--since', since, nowMs);
  const { store } = await session.open();
  const { records, keys, workspaceStore } = storesOn(store, session.clock);
  const workspaces =
    workspace === undefined
      ? await listWorkspaces(store, workspaceStore)
      : [await readWorkspace(workspaceStore, workspace)];
  const summaries = await readUsage({
    records,
    workspaces: workspaces.map(({ id }) => id),
    sinceMs,
    nowMs,
    by,
    onProgress: (done, total) => session.terminal.showProgress(`reading records: ${done} of ${total} days`),
  });
  const names = new Map<string | null, string>([[null, '(no provider answered)']]);
  if (by === 'key') for await (const { publicId, name } of keys.list()) names.set(publicId, `${name} (${publicId})`);
  const [from, to] = [new Date(sinceMs).toISOString(), new Date(nowMs).toISOString()];
  return {
    json: { since: from, until: to, by, groups: summaries.map(usageJson), total: usageJson(totalOf(summaries)) },
    lines: (style) =>
      summaries.length === 0
        ? [`no calls since ${from}`]
        : usageTable(summaries, by, (group) => names.get(group) ?? group ?? '-', style),
  };
}
