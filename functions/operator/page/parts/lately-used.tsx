// Shows which keys used something recently, before it is disabled or revoked, because their calls would end.
import type { ManagedCall } from '../connection/documents.ts';
import { useManagementRequest } from '../connection/management.ts';
import { count } from './shown-values.ts';
import { Shown } from './states.tsx';

interface LatelyUsedProperties {
  /** Filter for the calls. */
  readonly filter: Readonly<Record<string, string>>;
}

const since = '24h';
const shownKeys = 8;

export const LatelyUsed = ({ filter }: LatelyUsedProperties) => {
  const loaded = useManagementRequest('GET /calls', { query: { ...filter, since, limit: '200' } });
  return (
    <Shown loaded={loaded}>
      {({ data, next_cursor }) => {
        const users = usersIn(data);
        if (users.length === 0) {
          return (
            <p>{next_cursor === null ? 'It was not called in the last 24 hours.' : 'Its last calls are long ago.'}</p>
          );
        }
        return (
          <>
            <p>Called in the last 24 hours with these keys, the most calls first:</p>
            <ul aria-label="Who called it">
              {users.slice(0, shownKeys).map(({ key, workspace, calls }) => (
                <li key={`${workspace} ${key}`}>
                  {key} of {workspace}: {next_cursor === null ? '' : 'at least '}
                  {count(calls)} {calls === 1 ? 'call' : 'calls'}
                </li>
              ))}
              {users.length > shownKeys && <li>and {users.length - shownKeys} more keys</li>}
            </ul>
          </>
        );
      }}
    </Shown>
  );
};

function usersIn(calls: readonly ManagedCall[]) {
  const users = new Map<string, { readonly key: string; readonly workspace: string; readonly calls: number }>();
  for (const { key_public_id: id, key_name: name, workspace } of calls) {
    const before = users.get(id)?.calls ?? 0;
    users.set(id, { key: name ?? id, workspace, calls: before + 1 });
  }
  return [...users.values()].sort((one, other) => other.calls - one.calls);
}
