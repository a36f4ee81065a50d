// Changes of a gateway file, planned or made: each field, old and new, and removals first.
import type { Replacement } from '../connection/documents.ts';

type ReplacementChange = Replacement['changes'][number];

interface ReplacementSummaryProperties {
  readonly replacement: Replacement;
  readonly isApplied: boolean;
}

export const ReplacementSummary = ({ replacement, isApplied }: ReplacementSummaryProperties) => {
  const { changes, filled, takes_away, brings_back, notes, created_keys } = replacement;
  return (
    <section role="status" aria-label={isApplied ? 'What has changed' : 'What would change'}>
      <h2>{isApplied ? 'Applied' : 'What would change'}</h2>
      {changes.length === 0 && <p class="empty">Nothing: this is what is stored.</p>}
      <Lines title={isApplied ? 'Taken away' : 'Takes away'} lines={takes_away} />
      <Lines title={isApplied ? 'Brought back' : 'Brings back revoked keys'} lines={brings_back} />
      {created_keys.length > 0 && (
        <>
          <h3>New keys, shown once: keep them now</h3>
          <ul aria-label="New keys">
            {created_keys.map(({ workspace, name, key }) => (
              <li key={key}>
                {name} of {workspace}: <code>{key}</code>
              </li>
            ))}
          </ul>
        </>
      )}
      {changes.map((change) => (
        <details key={change.resource} open>
          <summary>
            <strong>{change.resource}</strong> {change.change}
          </summary>
          <Members members={change.members} />
        </details>
      ))}
      {filled.length > 0 && (
        <details>
          <summary>
            <strong>Filled in</strong>, as the file leaves it out
          </summary>
          {filled.map(({ place, origin, members }) => (
            <section key={place} aria-label={`Filled in at ${place}`}>
              <h3>
                <code>{place}</code> <span class="muted">from the {origin}</span>
              </h3>
              <Members members={Object.entries(members).map(([path, to]) => ({ path, to }))} />
            </section>
          ))}
        </details>
      )}
      <Lines title="Without effect" lines={notes} />
    </section>
  );
};

const Lines = ({ title, lines }: { readonly title: string; readonly lines: readonly string[] }) =>
  lines.length === 0 ? null : (
    <>
      <h3>{title}</h3>
      <ul aria-label={title}>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </>
  );

const Members = ({ members }: Pick<ReplacementChange, 'members'>) => (
  <dl class="members">
    {members.map(({ path, from, to }) => (
      <div key={path}>
        <dt>
          <code>{path}</code>
        </dt>
        <dd>
          {from !== undefined && <del>{written(from)}</del>} {to !== undefined && <ins>{written(to)}</ins>}
        </dd>
      </div>
    ))}
  </dl>
);

const shownCharacters = 2_000;
const written = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)} …` : text;
};
