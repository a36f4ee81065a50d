// How keys are listed: what is true of each now, and what may be done with it.
import type { Key } from '../connection/documents.ts';
import { Link } from '../parts/link.tsx';
import { count, none, tagPairs, time, usd } from '../parts/shown-values.ts';
import type { Column } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

export type KeyTask = { readonly kind: 'make' } | { readonly kind: 'change' | 'revoke' | 'rotate'; readonly key: Key };

export const keyColumns = (
  setTask: (task: KeyTask) => void,
  mayChange: (key: Key) => boolean,
): readonly Column<Key>[] => [
  {
    title: 'Name',
    show: ({ name, public_id }) => (
      <Link view="calls" parameters={{ key: public_id }}>
        {name}
      </Link>
    ),
  },
  { title: 'Workspace', show: ({ workspace }) => workspace },
  { title: 'Public id', show: ({ public_id }) => <code>{public_id}</code> },
  { title: 'State', show: (key) => <State apiKey={key} /> },
  { title: 'Owner', show: ({ owner }) => owner ?? none },
  { title: 'Requests per minute', isNumber: true, show: ({ rpm }) => count(rpm) },
  {
    title: 'Spent of limit',
    isNumber: true,
    show: ({ spend_limit_usd, spent_usd, spend_limit_reset }) =>
      spend_limit_usd === null
        ? none
        : `${usd(spent_usd)} of ${usd(spend_limit_usd)}${spend_limit_reset === null ? '' : ` ${spend_limit_reset}`}`,
  },
  { title: 'At once', isNumber: true, show: ({ concurrency }) => count(concurrency) },
  { title: 'Expires', show: ({ expires_at }) => <Time instant={expires_at} /> },
  { title: 'Models', show: ({ models }) => (models === null || models === 'all' ? 'all' : models.join(', ')) },
  { title: 'Tags', show: ({ tags }) => tagPairs(tags) || none },
  {
    title: 'Actions',
    show: (key) =>
      key.state === 'revoked' || !mayChange(key) ? (
        none
      ) : (
        <span class="actions">
          <button type="button" aria-label={`Change key ${key.name}`} onClick={() => setTask({ kind: 'change', key })}>
            Change
          </button>
          {key.state === 'active' && (
            <button
              type="button"
              aria-label={`Rotate key ${key.name}`}
              onClick={() => setTask({ kind: 'rotate', key })}
            >
              Rotate
            </button>
          )}
          <button
            type="button"
            class="danger"
            aria-label={`Revoke key ${key.name}`}
            onClick={() => setTask({ kind: 'revoke', key })}
          >
            Revoke
          </button>
        </span>
      ),
  },
];

/** A word, with a mark that is not the colour alone; what is behind it on hover. */
const State = ({ apiKey: { state, expires_at, replaced_by } }: { readonly apiKey: Key }) => {
  const why = state === 'ending' ? `${replaced_by} takes its place; ends ${time(expires_at)}` : undefined;
  return (
    <span class={`state ${state === 'active' ? 'serving' : state}`} title={why}>
      {state}
    </span>
  );
};
