// The newest calls that match the filters of the address.
import { useEffect, useState } from 'preact/hooks';
import { sinceOf, type ViewAddress } from '../connection/address.ts';
import type { List, ManagedCall } from '../connection/documents.ts';
import { downloadCsv, type Loaded, useManaged } from '../connection/management.ts';
import { useWorkspaceNames } from '../connection/session-rights.ts';
import { Button } from '../parts/button.tsx';
import { ChoiceFilter, Search, TextFilter, TimeRange } from '../parts/filters.tsx';
import { Link } from '../parts/link.tsx';
import { allRows, PagedTable } from '../parts/paged-table.tsx';
import { countedOf, milliseconds, none, usd } from '../parts/shown-values.ts';
import { Failure } from '../parts/states.tsx';
import type { TableColumn } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { Outcome, pathOf } from '../parts/time-line.tsx';
import { useRequests } from '../parts/use-requests.ts';

/** Name in the address → title. */
const textFilters = {
  model: 'Model',
  provider: 'Provider',
  key: 'Key',
  code: 'Code',
  interface: 'Interface',
  session: 'Session',
  tag: 'Tag',
};
const filterNames = ['outcome', 'workspace', 'search', ...Object.keys(textFilters)];

export const CallsView = ({ address }: { readonly address: ViewAddress }) => {
  const query = new URLSearchParams({ since: sinceOf(address) });
  for (const name of filterNames) {
    const value = address.parameters.get(name);
    if (value) query.set(name, value);
  }
  // A session is read as it went.
  const isSession = query.has('session');
  const loaded = useManaged('GET /calls', { query: Object.fromEntries(query) });
  return (
    <>
      <Filters address={address} loaded={loaded} />
      <PagedTable
        caption={isSession ? 'Calls of the session in their order' : 'Calls, the newest first'}
        loaded={loaded}
        cursorName="before"
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
    </>
  );
};

interface CallsProperties {
  readonly loaded: Loaded<List<ManagedCall>>;
}

const Filters = ({ address, loaded }: CallsProperties & { readonly address: ViewAddress }) => {
  const workspaces = useWorkspaceNames('member');
  return (
    <search>
      <div class="filters">
        <Search address={address} />
        <Actions loaded={loaded} />
      </div>
      <div class="filters many">
        <TimeRange address={address} />
        <ChoiceFilter
          address={address}
          name="outcome"
          title="Outcome"
          options={[['', 'all'], 'failed', ['refused', 'refused to clients']]}
        />
        <ChoiceFilter address={address} name="workspace" title="Workspace" options={[['', 'all'], ...workspaces]} />
        {Object.entries(textFilters).map(([name, title]) => (
          <TextFilter
            key={name}
            address={address}
            name={name}
            title={title}
            placeholder={name === 'tag' ? 'team=search' : 'any'}
          />
        ))}
      </div>
    </search>
  );
};

const liveEveryMs = 5_000;

/** Read the calls again, keep reading, take all of them along. */
const Actions = ({ loaded: { path = '', reload } }: CallsProperties) => {
  const [isLive, setIsLive] = useState(false);
  const { failure, run } = useRequests();
  useEffect(() => {
    if (!isLive) return;
    // A page behind others reads nothing.
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), liveEveryMs);
    return () => clearInterval(timer);
  }, [isLive, reload]);
  return (
    <span class="actions">
      <Button text="Refresh" onClick={reload} />
      <Button text={isLive ? 'Live ●' : 'Live'} isPressed={isLive} onClick={() => setIsLive((last) => !last)} />
      <Button text="CSV" onClick={() => run(() => downloadCsv(path, 'calls.csv'))} />
      <Failure failure={failure} />
    </span>
  );
};

const columns: readonly TableColumn<ManagedCall>[] = [
  {
    title: 'Time',
    show: ({ id, created_at }) => (
      <span class="time">
        <Link view="call" parameters={{ id }} text={<Time instant={created_at} />} />
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
    show: countedOf,
  },
  { title: 'Cost', isNumber: true, show: ({ cost_usd, is_byok }) => `${usd(cost_usd)}${is_byok ? ' BYOK' : ''}` },
  { title: 'Workspace', show: ({ workspace }) => workspace },
  { title: 'Key', show: ({ key_name, key_public_id }) => key_name ?? key_public_id },
];
