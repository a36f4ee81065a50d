// The gateway file of what is stored: read, edited or uploaded, tried, and applied. What others changed meanwhile is never replaced
// unseen: the gateway refuses, and the text stays to be compared with what is stored then.
import { useEffect, useRef, useState } from 'preact/hooks';
import { readStoredFile, type StoredFile, sendFile } from '../connection/configuration.ts';
import type { Replacement } from '../connection/documents.ts';
import { RequestFailed, saveFile } from '../connection/management.ts';
import { Failure, Reading } from '../parts/states.tsx';
import { ReplacementSummary } from './replacement-summary.tsx';

interface Tried {
  /** The text that it was about. */
  readonly text: string;
  readonly replacement: Replacement;
  readonly isApplied: boolean;
}

const fileName = 'gateway.yaml';

export const ConfigurationView = () => {
  const [stored, setStored] = useState<StoredFile>();
  const [text, setText] = useState('');
  const [tried, setTried] = useState<Tried>();
  const [failure, setFailure] = useState<RequestFailed>();
  const [isBusy, setIsBusy] = useState(true);
  const upload = useRef<HTMLInputElement>(null);

  const work = async (step: () => Promise<void>) => {
    setIsBusy(true);
    setFailure(undefined);
    try {
      await step();
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      setFailure(error);
    } finally {
      setIsBusy(false);
    }
  };
  const read = () =>
    work(async () => {
      const file = await readStoredFile();
      setStored(file);
      setText(file.text);
      setTried(undefined);
    });
  const tryText = (against: StoredFile) =>
    work(async () => {
      setTried(undefined);
      const replacement = await sendFile({ text, etag: against.etag }, { isDry: true });
      setTried({ text, replacement, isApplied: false });
    });
  const tryAgainstNew = () =>
    work(async () => {
      const file = await readStoredFile();
      setStored(file);
      await tryText(file);
    });
  const apply = (against: StoredFile) =>
    work(async () => {
      const replacement = await sendFile({ text, etag: against.etag }, { isDry: false });
      // Before all else: keys that were made are in this answer only.
      setTried({ text, replacement, isApplied: true });
      const file = await readStoredFile();
      setStored(file);
      setText((now) => (now === text ? file.text : now));
    });
  // Once: what is edited is not replaced by itself.
  useEffect(() => void read(), []);

  if (stored === undefined) {
    if (failure !== undefined) return <Failure failure={failure} retry={() => void read()} />;
    return (
      <div aria-busy="true">
        <Reading />
      </div>
    );
  }
  const isTried = tried !== undefined && tried.text === text && !tried.isApplied;
  const changes = tried?.replacement.changes.length ?? 0;
  return (
    <section class="configuration" aria-busy={isBusy}>
      <div class="filters">
        <button
          type="button"
          class={text === stored.text ? '' : 'danger'}
          disabled={isBusy}
          onClick={() => void read()}
        >
          Read again
        </button>
        <button type="button" onClick={() => upload.current?.click()}>
          Upload a file
        </button>
        <input
          ref={upload}
          type="file"
          hidden
          aria-label="Gateway file"
          accept=".yaml,.yml,.json"
          onChange={({ currentTarget }) => {
            void currentTarget.files?.[0]?.text().then(setText);
            currentTarget.value = '';
          }}
        />
        <button type="button" onClick={() => saveFile(new Blob([text], { type: 'application/yaml' }), fileName)}>
          Download
        </button>
      </div>
      <label>
        Gateway file
        <textarea
          class="code"
          rows={24}
          spellcheck={false}
          autocapitalize="none"
          wrap="off"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <p class="muted">
        In workspaces what is left out stays as it is stored; providers and models are described whole. Keys of
        providers are named, never shown: new ones of connections are stored by <code>npm run gw -- apply</code>.
      </p>
      {failure && <Failure failure={failure} />}
      {failure?.code === 'precondition_failed' && (
        <p class="actions">
          <button type="button" disabled={isBusy} onClick={() => void tryAgainstNew()}>
            Show what this text would change now
          </button>
          <button type="button" class="danger" disabled={isBusy} onClick={() => void read()}>
            Drop this text and read again
          </button>
        </p>
      )}
      <p class="actions">
        <button type="button" disabled={isBusy || text === stored.text} onClick={() => void tryText(stored)}>
          What would change?
        </button>
        <button
          type="button"
          class={(tried?.replacement.takes_away.length ?? 0) > 0 ? 'danger' : 'main'}
          disabled={isBusy || !isTried || changes === 0}
          onClick={() => void apply(stored)}
        >
          Apply
        </button>
      </p>
      {tried && (isTried || tried.isApplied) && (
        <ReplacementSummary replacement={tried.replacement} isApplied={tried.isApplied} />
      )}
    </section>
  );
};
