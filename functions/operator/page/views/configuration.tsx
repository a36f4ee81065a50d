// The gateway file of the store: read, edited or uploaded, tried, and applied. Others' changes are never overwritten
// unseen: the gateway refuses, and the text stays for comparison with the new configuration.
import { useEffect, useRef, useState } from 'preact/hooks';
import { readStoredFile, type StoredFile, sendFile } from '../connection/configuration.ts';
import type { Replacement } from '../connection/documents.ts';
import { saveFile } from '../connection/management.ts';
import { Button } from '../parts/button.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Failure, Reading } from '../parts/states.tsx';
import { TextEditor } from '../parts/text-editor.tsx';
import { useRequests } from '../parts/use-requests.ts';
import { ReplacementSummary } from './replacement-summary.tsx';

interface Tried {
  /** The text that it was about. */
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
      // First, because new keys are in this answer only.
      setTried({ text, replacement, isApplied: true });
      const file = await readAgain();
      setText((now) => (now === text ? file.text : now));
    });
  return { stored, text, setText, tried, isRunning, failure, read, tryText, tryAgainstNew, apply };
}

export const ConfigurationView = () => {
  const { stored, text, setText, tried, isRunning, failure, read, tryText, tryAgainstNew, apply } = useConfiguration();
  const [isAsked, setIsAsked] = useState(false);
  // Once, so that edits are not overwritten.
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
