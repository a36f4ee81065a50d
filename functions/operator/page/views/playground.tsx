// Tries a chat completion with an API key, and shows what it cost and which way it went.
import { useRef, useState } from 'preact/hooks';
import type { Address } from '../connection/address.ts';
import type { List, Model } from '../connection/documents.ts';
import { RequestFailed, useManaged } from '../connection/management.ts';
import { ask, type Usage } from '../connection/playground.ts';
import { useBaseUrl } from '../connection/settings.ts';
import { Link } from '../parts/link.tsx';
import { count, duration, usd } from '../parts/shown-values.ts';
import { Failure } from '../parts/states.tsx';
import { CallPath } from './call-path.tsx';

/** Of the last call; `id` is null until its answer began. */
interface Outcome {
  readonly id: string | null;
  readonly text: string;
  readonly usage: Usage | undefined;
  readonly failure: RequestFailed | undefined;
  readonly firstOutputMs: number | undefined;
  /** Undefined: it runs. */
  readonly totalMs: number | undefined;
}

const nothingYet: Outcome = {
  id: null,
  text: '',
  usage: undefined,
  failure: undefined,
  firstOutputMs: undefined,
  totalMs: undefined,
};

const stoppedText =
  'Nothing more is shown. The gateway reads the answer to its end, for some seconds at most, and charges what it reads.';

/** Of this page, and gone with it. */
let lastKey = '';

export const PlaygroundView = ({ address }: { readonly address: Address }) => {
  const models = useManaged<List<Model>>('models?limit=200').answer?.data ?? [];
  const baseUrl = useBaseUrl();
  const [outcome, setOutcome] = useState<Outcome>();
  const running = useRef<AbortController | undefined>(undefined);
  const send = async (form: HTMLFormElement) => {
    const data = new FormData(form);
    const text = (name: string) => String(data.get(name) ?? '').trim();
    lastKey = text('api-key');
    const call = new AbortController();
    running.current = call;
    setOutcome(nothingYet);
    const startedAt = performance.now();
    const elapsed = () => performance.now() - startedAt;
    const add = (change: (last: Outcome) => Partial<Outcome>) =>
      setOutcome((last = nothingYet) => ({ ...last, ...change(last) }));
    const question = {
      baseUrl: text('base-url'),
      key: lastKey,
      model: text('model'),
      prompt: text('prompt'),
    };
    try {
      await ask(
        question,
        {
          started: (id) => add(() => ({ id })),
          text: (added) => add(({ text, firstOutputMs = elapsed() }) => ({ text: text + added, firstOutputMs })),
          usage: (usage) => add(() => ({ usage })),
        },
        call.signal,
      );
    } catch (error) {
      const stopped = new RequestFailed('stopped', stoppedText);
      const failure = call.signal.aborted ? stopped : error;
      if (!(failure instanceof RequestFailed)) throw error;
      add(() => ({ failure }));
    } finally {
      add(() => ({ totalMs: elapsed() }));
    }
  };
  const isRunning = outcome !== undefined && outcome.totalMs === undefined;
  return (
    <>
      <form
        class="playground"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isRunning) void send(event.currentTarget);
        }}
      >
        <label>
          API key
          <input
            name="api-key"
            type="password"
            required
            defaultValue={lastKey}
            autocomplete="off"
            placeholder="sk-gw-…"
            aria-describedby="api-key-help"
          />
        </label>
        <label>
          Model
          <input
            name="model"
            list="models"
            required
            defaultValue={address.parameters.get('model') ?? 'auto'}
            spellcheck={false}
            autocapitalize="none"
          />
        </label>
        <datalist id="models">
          <option value="auto" />
          {models.map(({ id }) => (
            <option key={id} value={id} />
          ))}
        </datalist>
        <label>
          Base URL
          <input name="base-url" type="url" required readOnly value={baseUrl} />
        </label>
        <label class="wide">
          Message
          <textarea name="prompt" rows={4} required defaultValue="Hello" />
        </label>
        <p class="actions">
          <button type="submit" class="main" disabled={isRunning}>
            Send
          </button>
          <button type="button" disabled={!isRunning} onClick={() => running.current?.abort()}>
            Stop
          </button>
        </p>
        <p id="api-key-help" class="muted">
          A call costs what it costs any client with this key. The key is forgotten with the page; make one under{' '}
          <Link view="keys">Keys</Link>.
        </p>
      </form>
      {outcome && <Answer outcome={outcome} isRunning={isRunning} />}
    </>
  );
};

const Answer = ({ outcome, isRunning }: { readonly outcome: Outcome; readonly isRunning: boolean }) => {
  const { id, text, usage, failure, firstOutputMs, totalMs } = outcome;
  return (
    <section aria-label="Answer" aria-busy={isRunning} aria-live="polite">
      {failure && <Failure failure={failure} />}
      <p class="answer">
        {text}
        {isRunning && <span class="muted"> …</span>}
      </p>
      {totalMs !== undefined && (
        <>
          <dl class="totals">
            <Fact title="Cost" text={usage?.cost_usd && usd(usage.cost_usd)} />
            <Fact title="Model" text={usage?.model} />
            <Fact title="Provider" text={usage?.provider} />
            <Fact title="Tokens" text={usage && count((usage.prompt_tokens ?? 0) + (usage.completion_tokens ?? 0))} />
            <Fact title="First output" text={firstOutputMs && duration(firstOutputMs)} />
            <Fact title="Total" text={duration(totalMs)} />
          </dl>
          {id !== null && <CallPath id={id} />}
        </>
      )}
    </section>
  );
};

const Fact = ({ title, text }: { readonly title: string; readonly text: string | number | undefined }) =>
  text === undefined || text === '' || text === 0 ? null : (
    <div>
      <dt>{title}</dt>
      <dd>{text}</dd>
    </div>
  );
