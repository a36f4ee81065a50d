// Columns of a list of keys: the current state of each, and its actions.
import type { ComponentChildren } from 'preact';
import { keySettings, listedCounts } from '../../../../shared/configuration/settings/index.ts';
import type { Key } from '../connection/documents.ts';
import { Button } from '../parts/button.tsx';
import { LastAlert } from '../parts/last-alert.tsx';
import { Link } from '../parts/link.tsx';
import { count, none, tagPairs, time, usd } from '../parts/shown-values.ts';
import type { TableColumn } from '../parts/table.tsx';
import { timeOrNone } from '../parts/time.tsx';

export type KeyTask = { readonly kind: 'make' } | { readonly kind: 'change' | 'revoke' | 'rotate'; readonly key: Key };

export const keyColumns = (
  setTask: (task: KeyTask) => void,
  mayChange: (key: Key) => boolean,
): readonly TableColumn<Key>[] => [
  {
    title: 'Name',
    show: ({ name, public_id }) => (
      <span class="lines">
        <Link view="calls" parameters={{ key: public_id }} text={name} />
        <code class="muted">{public_id}</code>
      </span>
    ),
  },
  {
    title: 'Workspace',
    show: ({ workspace, owner }) => (
      <span class="lines">
        {workspace}
        {owner !== null && <span class="muted">{owner}</span>}
      </span>
    ),
  },
  { title: 'State', show: (key) => <State apiKey={key} /> },
  {
    title: 'Spent',
    isNumber: true,
    show: ({ spend_limit_usd, spent_usd, last_alert }) =>
      spend_limit_usd === null ? (
        none
      ) : (
        <span class="lines">
          {usd(spent_usd)}
          <LastAlert of={`${last_alert?.percent} %`} alert={last_alert} />
        </span>
      ),
  },
  { title: 'Limits', show: (key) => limitsOf(key) },
  { title: 'Expires', show: ({ expires_at }) => timeOrNone(expires_at) },
  { title: 'Models', show: ({ models }) => (models === 'all' ? 'all' : models.join(', ')) },
  { title: 'Tags', show: ({ tags }) => tagPairs(tags) || none },
  {
    title: 'Actions',
    show: (key) =>
      key.state === 'revoked' || !mayChange(key) ? (
        none
      ) : (
        <span class="actions">
          <Button text="Change" label={`Change key ${key.name}`} onClick={() => setTask({ kind: 'change', key })} />
          {key.state === 'active' && (
            <Button text="Rotate" label={`Rotate key ${key.name}`} onClick={() => setTask({ kind: 'rotate', key })} />
          )}
          <Button
            text="Revoke"
            kind="danger"
            label={`Revoke key ${key.name}`}
            onClick={() => setTask({ kind: 'revoke', key })}
          />
        </span>
      ),
  },
];

function limitsOf({ spend_limit_usd, spend_limit_reset, ...key }: Key): ComponentChildren {
  const limits = [
    spend_limit_usd !== null && `${usd(spend_limit_usd)} ${spend_limit_reset ?? ''}`.trim(),
    ...listedCounts(keySettings).map(({ name, listed }) => key[name] !== null && `${count(key[name])} ${listed}`),
  ].filter((limit) => limit !== false);
  if (limits.length === 0) return none;
  return (
    <span class="lines">
      {limits.map((limit) => (
        <span key={limit}>{limit}</span>
      ))}
    </span>
  );
}

/** A word with a mark other than its colour, and details on hover. */
const State = ({ apiKey: { state, expires_at, replaced_by } }: { readonly apiKey: Key }) => {
  const why = state === 'ending' ? `${replaced_by} takes its place; ends ${time(expires_at)}` : undefined;
  return (
    <span class={`state ${state === 'active' ? 'serving' : state}`} title={why}>
      {state}
    </span>
  );
};
