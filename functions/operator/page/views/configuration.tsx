// Shows the gateway file of the store, which operators can edit or upload, try, and apply. Changes of other operators
// are never overwritten unseen. The gateway refuses a file that is based on an older configuration, and the text stays
// for comparison with the new configuration.
import { useEffect, useRef, useState } from 'preact/hooks';
import { readStoredFile, type StoredFile, sendFile } from '../connection/configuration.ts';
import type { Replacement } from '../connection/documents.ts';
import { saveFile } from '../connection/management.ts';
import { Button } from '../parts/button.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Failure, Reading } from '../parts/states.tsx';
import { TextEditor } from '../parts/text-editor.tsx';
import { useRequests } from '../parts/use-requests.ts';

interface Tried {
  /** The text that was tried or applied. */
  readonly text: string;
  readonly replacement: Replacement;
  readonly isApplied: boolean;
}

function useConfiguration() {
  const [stored, setStored] = useState<StoredFile>();
  const [text, setText] = useState('');
  const [tried, setTried] = useState<Tried>();
  const { isRunning, failure, run } = useRequests(true);

  async function readAgain(): Promise<StoredFile> {
    const file = await readStoredFile();
    setStored(file);
    return file;
  }
  const read = () =>
    run(async () => {
      setText((await readAgain()).text);
      setTried(undefined);
    });
  const tryText = (against: StoredFile) =>
    run(async () => {
      setTried(undefined);
      const replacement = await sendFile({ text, etag: against.etag }, { isDry: true });
      setTried({ text, replacement, isApplied: false });
    });
  const tryAgainstNew = () => run(async () => tryText(await readAgain()));
  const apply = (against: StoredFile) =>
    run(async () => {
      const replacement = await sendFile({ text, etag: against.etag }, { isDry: false });
      // The answer is shown first, because it is the only answer with the text of new keys.
      setTried({ text, replacement, isApplied: true });
      const file = await readAgain();
      setText((now) => (now === text ? file.text : now));
    });
  return { stored, text, setText, tried, isRunning, failure, read, tryText, tryAgainstNew, apply };
}

export const ConfigurationView = () => {
  const { stored, text, setText, tried, isRunning, failure, read, tryText, tryAgainstNew, apply } = useConfiguration();
  const [isAsked, setIsAsked] = useState(false);
  // The file is read once, so that edits are not overwritten.
  useEffect(() => void read(), []);

  if (stored === undefined) {
    if (failure !== undefined) return <Failure failure={failure} retry={read} />;
    return (
      <div aria-busy="true">
        <Reading />
      </div>
    );
  }
  const isTried = tried !== undefined && tried.text === text && !tried.isApplied;
  const changes = tried?.replacement.changes.length ?? 0;
  const takesAway = tried?.replacement.takes_away ?? [];
  return (
    <section class="configuration" aria-busy={isRunning}>
      <div class="filters">
        <Button
          text="Read again"
          kind={text === stored.text ? undefined : 'danger'}
          disabled={isRunning}
          onClick={read}
        />
        <Upload taken={setText} />
        <Button
          text="Download"
          onClick={() => saveFile(new Blob([text], { type: 'application/yaml' }), 'gateway.yaml')}
        />
      </div>
      <TextEditor title="Gateway file" rows={24} value={text} change={setText} fault={failure?.message} />
      <p class="muted">
        Fields of a workspace that are left out stay as they are stored; providers and models are replaced whole.
        Provider keys are named and never shown. Only <code>gw apply</code> stores new keys of BYOK connections.
      </p>
      <Failure failure={failure} />
      {failure?.code === 'precondition_failed' && (
        <p class="actions">
          <Button text="Show what this text would change now" disabled={isRunning} onClick={tryAgainstNew} />
          <Button text="Drop this text and read again" kind="danger" disabled={isRunning} onClick={read} />
        </p>
      )}
      <p class="actions">
        <Button
          text="What would change?"
          disabled={isRunning || text === stored.text}
          onClick={() => tryText(stored)}
        />
        <Button
          text="Apply"
          kind={takesAway.length > 0 ? 'danger' : 'main'}
          disabled={isRunning || !isTried || changes === 0}
          onClick={() => (takesAway.length > 0 ? setIsAsked(true) : apply(stored))}
        />
      </p>
      {isAsked && (
        <ConfirmDialog
          title="Apply what takes something away?"
          act="Apply"
          send={() => apply(stored).then(() => true)}
          close={() => setIsAsked(false)}
          done={() => setIsAsked(false)}
        >
          <p>Who uses these is refused from now on:</p>
          <ul aria-label="Takes away">
            {takesAway.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </ConfirmDialog>
      )}
      {tried && (isTried || tried.isApplied) && (
        <ReplacementSummary replacement={tried.replacement} isApplied={tried.isApplied} />
      )}
    </section>
  );
};

const Upload = ({ taken }: { readonly taken: (text: string) => void }) => {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button text="Upload a file" onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        hidden
        aria-label="Gateway file"
        accept=".yaml,.yml,.json"
        onChange={({ currentTarget }) => {
          void currentTarget.files?.[0]?.text().then(taken);
          currentTarget.value = '';
        }}
      />
    </>
  );
};

// Shows the changes of a gateway file, planned or made: each field with its old and new value, removals first.

type ReplacementChange = Replacement['changes'][number];

interface ReplacementSummaryProperties {
  readonly replacement: Replacement;
  readonly isApplied: boolean;
}

const ReplacementSummary = ({ replacement, isApplied }: ReplacementSummaryProperties) => {
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
