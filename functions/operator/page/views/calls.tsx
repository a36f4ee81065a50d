// The newest calls that match the filters, which stand in the address.
import { type Address, goTo, sinceOf } from '../connection/address.ts';
import type { Call, List, Workspace } from '../connection/documents.ts';
import { useManaged } from '../connection/management.ts';
import { Link } from '../parts/link.tsx';
import { MoreRows, usePages } from '../parts/pages.tsx';
import { count, duration, none, time, usd } from '../parts/shown-values.ts';
import { Shown } from '../parts/states.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Outcome, pathOf } from '../parts/time-line.tsx';
import { TimeRange } from '../parts/time-range.tsx';

const filterNames = ['outcome', 'workspace', 'key', 'model', 'provider'] as const;

export const CallsView = ({ address }: { readonly address: Address }) => {
  const query = new URLSearchParams({ since: sinceOf(address) });
  for (const name of filterNames) {
    const value = address.parameters.get(name);
    if (value) query.set(name, value);
  }
  const path = `calls?${query}`;
  const loaded = useManaged<List<Call>>(path);
  return (
    <>
      <Filters address={address} reload={loaded.reload} />
      <Shown loaded={loaded}>{(answer) => <Calls key={path} path={path} first={answer} />}</Shown>
    </>
  );
};

const Filters = ({ address, reload }: { readonly address: Address; readonly reload: () => void }) => {
  const workspaces = useManaged<List<Workspace>>('workspaces?limit=200').answer?.data ?? [];
  const value = (name: string) => address.parameters.get(name) ?? '';
  const set = (name: string, text: string) =>
    goTo('calls', { ...Object.fromEntries(address.parameters), [name]: text.trim() });
  const text = (name: 'key' | 'model' | 'provider', title: string) => (
    <label>
      {title}
      <input
        value={value(name)}
        placeholder="any"
        spellcheck={false}
        autocapitalize="none"
        onChange={({ currentTarget }) => set(name, currentTarget.value)}
      />
    </label>
  );
  return (
    <search class="filters">
      <TimeRange address={address} />
      <label>
        Outcome
        <select value={value('outcome')} onChange={({ currentTarget }) => set('outcome', currentTarget.value)}>
          <option value="">all</option>
          <option value="failed">failed</option>
        </select>
      </label>
      <label>
        Workspace
        <select value={value('workspace')} onChange={({ currentTarget }) => set('workspace', currentTarget.value)}>
          <option value="">all</option>
          {workspaces.map(({ id }) => (
            <option key={id}>{id}</option>
          ))}
        </select>
      </label>
      {text('model', 'Model')}
      {text('provider', 'Provider')}
      {text('key', 'Key')}
      <button type="button" onClick={reload}>
        Refresh
      </button>
    </search>
  );
};

const columns: readonly Column<Call>[] = [
  {
    title: 'Time',
    show: ({ id, created_at }) => (
      <span class="time">
        <Link view="call" parameters={{ id }}>
          {time(created_at)}
        </Link>
      </span>
    ),
  },
  { title: 'Outcome', show: ({ outcome }) => <Outcome outcome={outcome} /> },
  { title: 'Model', show: ({ model, model_asked }) => model ?? model_asked ?? none },
  { title: 'Path', show: pathOf },
  { title: 'Duration', isNumber: true, show: ({ total_ms }) => duration(total_ms) },
  {
    title: 'Tokens',
    isNumber: true,
    show: ({ prompt_tokens, completion_tokens }) => count(prompt_tokens + completion_tokens),
  },
  { title: 'Cost', isNumber: true, show: ({ cost_usd }) => usd(cost_usd) },
  { title: 'Key', show: ({ key_name, key_public_id }) => key_name ?? key_public_id },
];

const Calls = ({ path, first }: { readonly path: string; readonly first: List<Call> }) => {
  const pages = usePages(path, 'before', first);
  return (
    <>
      <Table
        caption="Calls, the newest first"
        columns={columns}
        rows={pages.rows}
        keyOf={({ id }) => id}
        empty={
          pages.readMore === undefined
            ? 'No call matches. Take a filter away or pick a longer time.'
            : 'No call matches among the newest. Go on with older calls, or take a filter away.'
        }
      />
      <MoreRows pages={pages} title="Older calls" />
    </>
  );
};
