// Shows the newest calls that match the filters of the address.
import { useEffect, useState } from 'preact/hooks';
import { interfaceIds } from '../../../../shared/foundation/constants/index.ts';
import { sinceOf, type ViewAddress } from '../connection/address.ts';
import type { List, ManagedCall } from '../connection/documents.ts';
import { downloadCsv, type LoadState, useManagementRequest } from '../connection/management.ts';
import { useChoices, useWorkspaceNames } from '../connection/session-rights.ts';
import { Button } from '../parts/button.tsx';
import { ChoiceFilter, Search, TextFilter, TimeRange } from '../parts/filters.tsx';
import { Link } from '../parts/link.tsx';
import { allRows, PagedTable } from '../parts/paged-table.tsx';
import { countedOf, milliseconds } from '../parts/shown-values.ts';
import { Failure } from '../parts/states.tsx';
import { sizeOf, type TableColumn, textColumn } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { Outcome, pathOf } from '../parts/time-line.tsx';
import { useRequests } from '../parts/use-requests.ts';

/** Maps the name of a filter in the address to its title. */
const textFilters = {
  model: 'Model',
  provider: 'Provider',
  key: 'Key',
  code: 'Code',
  session: 'Session',
  tag: 'Tag',
};
const rareFilters = ['workspace', 'interface', ...Object.keys(textFilters)];
const filterNames = ['outcome', 'search', ...rareFilters];

export const CallsView = ({ address }: { readonly address: ViewAddress }) => {
  const query = new URLSearchParams({ since: sinceOf(address) });
  for (const name of filterNames) {
    const value = address.parameters.get(name);
    if (value) query.set(name, value);
  }
  // Calls of a session are listed in the order of their times.
  const isSession = query.has('session');
  const loaded = useManagementRequest('GET /calls', { query: Object.fromEntries(query) });
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
  readonly loaded: LoadState<List<ManagedCall>>;
}

const Filters = ({ address, loaded }: CallsProperties & { readonly address: ViewAddress }) => {
  return (
    <search>
      <div class="filters top">
        <Search address={address} />
        <TimeRange address={address} />
        <ChoiceFilter
          address={address}
          name="outcome"
          title="Outcome"
          options={[['', 'all'], 'failed', ['refused', 'refused to clients']]}
        />
        <Actions loaded={loaded} />
      </div>
      <RareFilters address={address} />
    </search>
  );
};

/** Shows the filters that few people need. The filters are open from the start if a value is set. */
const RareFilters = ({ address }: { readonly address: ViewAddress }) => {
  const workspaces = useWorkspaceNames('member');
  const { models, providers, tag_names: tagNames } = useChoices();
  const options: Readonly<Record<string, readonly string[]>> = {
    model: models,
    provider: providers,
    tag: tagNames.map((name) => `${name}=`),
  };
  const set = rareFilters.filter((name) => address.parameters.has(name)).length;
  const [isOpen, setIsOpen] = useState(set > 0);
  return (
    <details class="rare" open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>More filters{set > 0 && `, ${set} set`}</summary>
      <div class="filters many">
        <ChoiceFilter address={address} name="workspace" title="Workspace" options={[['', 'all'], ...workspaces]} />
        <ChoiceFilter address={address} name="interface" title="Interface" options={[['', 'all'], ...interfaceIds]} />
        {Object.entries(textFilters).map(([name, title]) => (
          <TextFilter
            key={name}
            address={address}
            name={name}
            title={title}
            placeholder={name === 'tag' ? 'team=search' : 'any'}
            options={options[name] ?? []}
          />
        ))}
      </div>
    </details>
  );
};

const liveEveryMs = 5_000;

/** Shows the actions: read the calls again, keep reading, and download all of them. */
const Actions = ({ loaded: { path = '', reload } }: CallsProperties) => {
  const [isLive, setIsLive] = useState(false);
  const { failure, run } = useRequests();
  useEffect(() => {
    if (!isLive) return;
    // While the page is in the background, no calls are requested.
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
    value: ({ created_at }) => created_at,
    show: ({ id, created_at }) => (
      <span class="time">
        <Link view="call" parameters={{ id }} text={<Time instant={created_at} />} />
      </span>
    ),
  },
  {
    title: 'Outcome',
    value: ({ outcome }) => outcome,
    show: ({ outcome, blocked_by }) => (
      <>
        <Outcome outcome={outcome} />
        {blocked_by !== null && ` (guardrail ${blocked_by})`}
      </>
    ),
  },
  textColumn('Model', ({ model, model_asked }) => model ?? model_asked ?? null),
  { title: 'Path', show: pathOf },
  {
    title: 'Duration',
    isNumber: true,
    value: ({ total_ms }) => total_ms,
    show: ({ total_ms }) => milliseconds(total_ms),
  },
  {
    title: 'Tokens',
    isNumber: true,
    value: ({ prompt_tokens, completion_tokens }) => prompt_tokens + completion_tokens,
    show: countedOf,
  },
  {
    title: 'Cost',
    isNumber: true,
    value: ({ cost_usd }) => sizeOf(cost_usd),
    amounts: ({ cost_usd }) => [cost_usd],
    show: ({ cost_usd, is_byok }, usd) => `${usd(cost_usd)}${is_byok ? ' BYOK' : ''}`,
  },
  textColumn('Workspace', ({ workspace }) => workspace),
  textColumn('Key', ({ key_name, key_public_id }) => key_name ?? key_public_id),
];
