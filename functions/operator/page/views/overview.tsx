// Shows spend, calls, failures and latency over time, grouped by key, model, provider and tag.
import { useMemo } from 'preact/hooks';
import { type Parameters, sinceChoices, sinceOf, type ViewAddress } from '../connection/address.ts';
import type { CallTotals, Overview } from '../connection/documents.ts';
import { useManagementRequest } from '../connection/management.ts';
import { Button } from '../parts/button.tsx';
import { DescriptionList } from '../parts/description-list.tsx';
import { ChoiceFilter, TimeRange } from '../parts/filters.tsx';
import { Link } from '../parts/link.tsx';
import { amountText, usd, usdAlike } from '../parts/money.ts';
import { Plot, type PlotLine } from '../parts/plot.tsx';
import { count, duration, hasByok, milliseconds, none, share, spendOf, time } from '../parts/shown-values.ts';
import { Shown } from '../parts/states.tsx';
import { amountColumn, countColumn, Table, type TableColumn } from '../parts/table.tsx';

export const OverviewView = ({ address }: { readonly address: ViewAddress }) => {
  const since = sinceOf(address);
  const tag = address.parameters.get('tag') ?? '';
  const loaded = useManagementRequest('GET /overview', { query: { since, ...(tag === '' ? {} : { tag }) } });
  return (
    <>
      <div class="filters">
        <TimeRange address={address} />
        <ChoiceFilter
          address={address}
          name="tag"
          title="Group by tag"
          options={[['', 'none'], ...tagNames(loaded.answer?.data, tag)]}
        />
        <Button text="Refresh" onClick={loaded.reload} />
      </div>
      <Shown loaded={loaded}>
        {({ data }) =>
          data.totals.calls === 0 ? <NoCalls since={since} /> : <Charts overview={data} since={since} tag={tag} />
        }
      </Shown>
    </>
  );
};

/** Names of tags to choose from. The selected name is included, even if no call of a shorter range has that tag. */
const tagNames = (overview: Overview | undefined, tag: string): readonly string[] =>
  [...new Set([...(overview?.tag_names ?? []), ...(tag === '' ? [] : [tag])])].sort();

const NoCalls = ({ since }: { readonly since: string }) => (
  <p class="empty">
    No calls in the {sinceChoices[since as keyof typeof sinceChoices] ?? `last ${since}`}. Pick a longer time, or make a
    call in the <Link view="playground" text="playground" />.
  </p>
);

type ByProvider = Overview['by_provider'][number];

interface ChartsProperties {
  readonly overview: Overview;
  readonly since: string;
  readonly tag: string;
}

const Charts = ({ overview, since, tag }: ChartsProperties) => (
  <>
    {overview.is_complete || (
      <p class="note">
        There are more calls than can be counted at once: this shows those since {time(overview.counted_since)}. Pick a
        shorter time for all of it.
      </p>
    )}
    <Totals totals={overview.totals} />
    <Plots series={overview.series} interval={overview.interval} />
    {overview.by_tag && (
      <Groups
        by={`tag ${tag}`}
        rows={overview.by_tag.map((row) => ({
          ...row,
          name: row.value,
          filter: { tag: row.value === null ? '' : `${tag}=${row.value}` },
        }))}
        since={since}
      />
    )}
    <Groups
      by="workspace"
      rows={overview.by_workspace.map((row) => ({ ...row, name: row.workspace, filter: { workspace: row.workspace } }))}
      since={since}
    />
    <Groups
      by="model"
      rows={overview.by_model.map((row) => ({ ...row, name: row.model, filter: { model: row.model ?? '' } }))}
      since={since}
    />
    <Groups
      by="provider"
      // Calls of a provider are the calls that it answered; its attempts are all calls that it received.
      columns={[
        countColumn<ByProvider>('Attempts', ({ attempts }) => attempts),
        countColumn<ByProvider>('Failed attempts', ({ failed_attempts }) => failed_attempts),
        countColumn<ByProvider>('Calls answered', ({ calls, failed }) => calls - failed),
      ]}
      rows={overview.by_provider.flatMap((row) =>
        row.provider === null ? [] : [{ ...row, name: row.provider, filter: { provider: row.provider } }],
      )}
      since={since}
    />
    <Groups
      by="key"
      rows={overview.by_key.map((row) => ({
        ...row,
        name: row.name ?? row.key,
        keyWorkspace: row.workspace,
        filter: { key: row.key },
      }))}
      since={since}
    />
  </>
);

const Totals = ({ totals }: { readonly totals: CallTotals }) => (
  <DescriptionList
    kind="totals"
    entries={[
      ['Spend', usd(amountText(spendOf(totals)))],
      ...(hasByok(totals) ? ([['Paid by callers (BYOK)', usd(totals.byok_cost_usd)]] as const) : []),
      ['Calls', count(totals.calls)],
      ['Failed', `${count(totals.failed)} (${share(totals.failed, totals.calls)})`],
      ['Refused', `${count(totals.refused)} (${share(totals.refused, totals.calls)})`],
      ['Tokens', count(totals.tokens)],
      ['Latency p50', duration(totals.p50_ms)],
      ['Latency p95', duration(totals.p95_ms)],
    ]}
  />
);

const intervalSeconds = { hour: 3_600, day: 86_400 };

const Plots = ({ series, interval }: Pick<Overview, 'series' | 'interval'>) => {
  const plots = useMemo(() => {
    const times = series.map(({ time }) => Date.parse(time) / 1_000);
    const line = (title: string, color: string, figure: (figures: CallTotals) => number | null): PlotLine => ({
      title,
      color,
      values: series.map(figure),
    });
    return {
      time: { times, intervalSeconds: intervalSeconds[interval] },
      spend: [line('Spend', 'accent', spendOf)],
      byok: series.some(hasByok) && [line('BYOK', 'second', ({ byok_cost_usd }) => Number(byok_cost_usd))],
      calls: [line('Calls', 'accent', ({ calls }) => calls)],
      failed: [line('Failed', 'bad', ({ failed }) => failed)],
      latency: [line('p95', 'second', ({ p95_ms }) => p95_ms), line('p50', 'accent', ({ p50_ms }) => p50_ms)],
    };
  }, [series, interval]);
  // The plot and its table show the same number of decimals.
  const inPlot = usdAlike(series.flatMap((figures) => [amountText(spendOf(figures)), figures.byok_cost_usd]));
  const amount = (value: number | null) => inPlot(amountText(value ?? 0));
  const whole = (value: number | null) => (value !== null && Number.isInteger(value) ? count(value) : '');
  return (
    <div class="plots">
      <Plot {...plots.time} title={`Spend by ${interval}`} kind="bars" lines={plots.spend} show={amount} />
      {plots.byok && (
        <Plot {...plots.time} title={`BYOK by ${interval}`} kind="bars" lines={plots.byok} show={amount} />
      )}
      <Plot {...plots.time} title={`Calls by ${interval}`} kind="bars" lines={plots.calls} show={whole} />
      <Plot {...plots.time} title={`Failed calls by ${interval}`} kind="bars" lines={plots.failed} show={whole} />
      <Plot {...plots.time} title={`Latency by ${interval}`} kind="line" lines={plots.latency} show={duration} />
    </div>
  );
};

// Shows the groups of an overview in one table for each grouping. Each row links to its calls.

interface Group extends CallTotals {
  readonly name: string | null;
  /** Workspace of a key. */
  readonly keyWorkspace?: string;
  readonly filter: Parameters;
}

interface GroupsProperties<Row extends Group> {
  readonly by: string;
  readonly rows: readonly Row[];
  readonly since: string;
  /** Number of calls of each group. */
  readonly columns?: readonly TableColumn<Row>[];
}

const callColumns: readonly TableColumn<Group>[] = [
  countColumn('Calls', ({ calls }) => calls),
  countColumn('Failed', ({ failed }) => failed),
  countColumn('Refused', ({ refused }) => refused),
];

function Groups<Row extends Group>({ by, rows, since, columns = callColumns }: GroupsProperties<Row>) {
  const name: TableColumn<Row> = {
    title: `${by.slice(0, 1).toUpperCase()}${by.slice(1)}`,
    value: (row) => row.name,
    show: (row) =>
      row.name === null ? (
        none
      ) : (
        <span class="lines">
          <Link view="calls" parameters={{ ...row.filter, since }} text={row.name} />
          {row.keyWorkspace !== undefined && <span class="muted">of {row.keyWorkspace}</span>}
        </span>
      ),
  };
  const figures: readonly TableColumn<Row>[] = [
    amountColumn('Spend', (row) => amountText(spendOf(row))),
    ...(rows.some(hasByok) ? [amountColumn<Row>('BYOK', ({ byok_cost_usd }) => byok_cost_usd)] : []),
    countColumn('Tokens', ({ tokens }) => tokens),
    { title: 'p50', isNumber: true, value: ({ p50_ms }) => p50_ms, show: ({ p50_ms }) => milliseconds(p50_ms) },
    { title: 'p95', isNumber: true, value: ({ p95_ms }) => p95_ms, show: ({ p95_ms }) => milliseconds(p95_ms) },
  ];
  return (
    <>
      <h2>By {by}</h2>
      <Table
        caption={`Calls by ${by}`}
        columns={[name, ...columns, ...figures]}
        rows={rows}
        keyOf={({ filter }) => JSON.stringify(filter)}
        empty={`No ${by} was called.`}
      />
    </>
  );
}
