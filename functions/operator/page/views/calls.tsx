// The newest calls that match the filters, which stand in the address.
import { type Address, goTo, sinceOf } from '../connection/address.ts';
import type { Call, List } from '../connection/documents.ts';
import { useManaged } from '../connection/management.ts';
import { useWorkspaceNames } from '../connection/workspace-names.ts';
import { Link } from '../parts/link.tsx';
import { allRows, PagedTable } from '../parts/paged-table.tsx';
import { count, milliseconds, none, usd } from '../parts/shown-values.ts';
import { Shown } from '../parts/states.tsx';
import type { Column } from '../parts/table.tsx';
import { TextFilter } from '../parts/text-filter.tsx';
import { Time } from '../parts/time.tsx';
import { Outcome, pathOf } from '../parts/time-line.tsx';
import { TimeRange } from '../parts/time-range.tsx';
import { CallActions } from './call-actions.tsx';

const filterNames = [
  'outcome',
  'code',
  'workspace',
  'key',
  'model',
  'provider',
  'interface',
  'session',
  'tag',
] as const;

export const CallsView = ({ address }: { readonly address: Address }) => {
  const query = new URLSearchParams({ since: sinceOf(address) });
  for (const name of filterNames) {
    const value = address.parameters.get(name);
    if (value) query.set(name, value);
  }
  const path = `calls?${query}`;
  // A session is read as it went.
  const isSession = query.has('session');
  const loaded = useManaged<List<Call>>(path);
  return (
    <>
      <Filters address={address} path={path} reload={loaded.reload} />
      <Shown loaded={loaded}>
        {(answer) => (
          <PagedTable
            key={path}
            caption={isSession ? 'Calls of the session in their order' : 'Calls, the newest first'}
            path={path}
            cursorName="before"
            first={answer}
            columns={columns}
            rowsOf={isSession ? (calls) => calls.toReversed() : allRows}
            keyOf={({ id }) => id}
            empty={(_calls, hasMore) =>
              hasMore
                ? 'No call matches among the newest. Go on with older calls, or take a filter away.'
                : 'No call matches. Take a filter away or pick a longer time.'
            }
            moreTitle="Older calls"
          />
        )}
      </Shown>
    </>
  );
};

interface FiltersProperties {
  readonly address: Address;
  readonly path: string;
  readonly reload: () => void;
}

const Filters = ({ address, path, reload }: FiltersProperties) => {
  const workspaces = useWorkspaceNames('member');
  const value = (name: string) => address.parameters.get(name) ?? '';
  const set = (name: string, choice: string) =>
    goTo('calls', { ...Object.fromEntries(address.parameters), [name]: choice });
  return (
    <search class="filters many">
      <TimeRange address={address} />
      <label>
        Outcome
        <select value={value('outcome')} onChange={({ currentTarget }) => set('outcome', currentTarget.value)}>
          <option value="">all</option>
          <option value="failed">failed</option>
          <option value="refused">refused to clients</option>
        </select>
      </label>
      <label>
        Workspace
        <select value={value('workspace')} onChange={({ currentTarget }) => set('workspace', currentTarget.value)}>
          <option value="">all</option>
          {workspaces.map((id) => (
            <option key={id}>{id}</option>
          ))}
        </select>
      </label>
      <TextFilter address={address} name="model" title="Model" />
      <TextFilter address={address} name="provider" title="Provider" />
      <TextFilter address={address} name="key" title="Key" />
      <TextFilter address={address} name="code" title="Code" />
      <TextFilter address={address} name="interface" title="Interface" />
      <TextFilter address={address} name="session" title="Session" />
      <TextFilter address={address} name="tag" title="Tag" placeholder="team=search" />
      <CallActions path={path} reload={reload} />
    </search>
  );
};

const columns: readonly Column<Call>[] = [
  {
    title: 'Time',
    show: ({ id, created_at }) => (
      <span class="time">
        <Link view="call" parameters={{ id }}>
          <Time instant={created_at} />
        </Link>
      </span>
    ),
  },
  { title: 'Outcome', show: ({ outcome }) => <Outcome outcome={outcome} /> },
  { title: 'Model', show: ({ model, model_asked }) => model ?? model_asked ?? none },
  { title: 'Path', show: pathOf },
  { title: 'Duration', isNumber: true, show: ({ total_ms }) => milliseconds(total_ms) },
  {
    title: 'Tokens',
    isNumber: true,
    show: ({ prompt_tokens, completion_tokens }) => count(prompt_tokens + completion_tokens),
  },
  { title: 'Cost', isNumber: true, show: ({ cost_usd }) => usd(cost_usd) },
  { title: 'Key', show: ({ key_name, key_public_id }) => key_name ?? key_public_id },
];
