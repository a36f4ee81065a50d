// Shows the playground, which tries calls with an API key, turn by turn, through any interface. The playground shows
// request and answer, cost, path, and the same request for a shell and for a program.
import { useEffect, useState } from 'preact/hooks';
import { type InterfaceName, interfaceNames, interfaces } from '../../../../shared/protocol/interface-pages/index.ts';
import {
  curlOf,
  type Draft,
  isFunction,
  type PlaygroundToolCall,
  type PlaygroundTurn,
  sentCall,
  sentFile,
} from '../../../../shared/protocol/playground/index.ts';
import type { ViewAddress } from '../connection/address.ts';
import type { ManagedCall } from '../connection/documents.ts';
import { manage, useManagementRequest } from '../connection/management.ts';
import { type ConversationOutcome, useConversation } from '../connection/playground/use-conversation.ts';
import { useRights } from '../connection/session-rights.ts';
import { useBaseUrl } from '../connection/settings.ts';
import { Button, CopyButton } from '../parts/button.tsx';
import { DescriptionList } from '../parts/description-list.tsx';
import { CheckField, Choice, Field } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { Link } from '../parts/link.tsx';
import { usd } from '../parts/money.ts';
import { countedOf, duration, none } from '../parts/shown-values.ts';
import { Failure } from '../parts/states.tsx';
import { TimeLine } from '../parts/time-line.tsx';
import { useRequests } from '../parts/use-requests.ts';
import { readDraft, resultField } from './playground-draft.ts';

/** The last key. This page remembers it until the page is closed. */
let lastKey = '';

const interfaceOf = (text: string | null): InterfaceName =>
  interfaceNames.find((known) => known === text) ?? 'chat-completions';

export const PlaygroundView = ({ address }: { readonly address: ViewAddress }) => {
  const baseUrl = useBaseUrl();
  const { outcome, isRunning, turns, send, stop, forget } = useConversation();
  const [interfaceName, setInterfaceName] = useState(() => interfaceOf(address.parameters.get('interface')));
  const [model, setModel] = useState(address.parameters.get('model') ?? 'auto');
  const reading = useRequests();
  const calledInterface = interfaces[interfaceName];
  const waiting = outcome?.failure === undefined ? (outcome?.calls ?? []) : [];
  const keepsTurns = calledInterface.hasTurns && !isFunction(model);

  const submit = async (form: HTMLFormElement) => {
    const draft = await reading.run(() =>
      readDraft(form, { streams: calledInterface.hasStreams && !isFunction(model), calls: waiting }),
    );
    if (draft === undefined) return;
    lastKey = String(new FormData(form).get('api-key') ?? '').trim();
    const all = keepsTurns ? [...turns, ...draft.turns] : draft.turns;
    await send({ baseUrl, key: lastKey }, interfaceName, { ...draft, turns: all });
  };

  return (
    <>
      <Form class="playground" submit={(form) => isRunning || submit(form)}>
        <PlaygroundFields
          interfaceName={interfaceName}
          setInterfaceName={(name) => {
            setInterfaceName(name);
            forget();
          }}
          model={model}
          setModel={setModel}
          lastKey={lastKey}
          baseUrl={baseUrl}
          calls={isRunning ? [] : waiting}
        />
        <Failure failure={reading.failure} />
        <p class="actions wide">
          <button type="submit" class="main" disabled={isRunning}>
            Send
          </button>
          <Button text="Stop" disabled={!isRunning} onClick={stop} />
          <Button text="New conversation" disabled={isRunning || outcome === undefined} onClick={forget} />
        </p>
      </Form>
      {outcome && <PlaygroundTurns turns={outcome.draft.turns} file={outcome.draft.file} />}
      {outcome && <PlaygroundAnswer outcome={outcome} isRunning={isRunning} baseUrl={baseUrl} />}
    </>
  );
};

// Shows the outcome of a call of the playground, and the same call as code.

const titles = { user: 'You', assistant: 'Model', tool: 'Tools' } as const;

/** The turns that were sent. */
const PlaygroundTurns = ({ turns, file }: Pick<Draft, 'turns' | 'file'>) => (
  <ol class="turns" aria-label="Conversation">
    {turns.map((turn, at) => (
      <li key={at}>
        <strong>{titles[turn.role]}</strong> <span>{[file?.name, textOf(turn)].join(' ').trim()}</span>
      </li>
    ))}
  </ol>
);

function textOf(turn: PlaygroundTurn): string {
  if (turn.role === 'tool') return turn.results.map(({ text }) => text).join('\n');
  if (turn.role === 'user') {
    const { images, text } = turn;
    return images.length === 0 ? text : `${text} (${images.length} ${images.length === 1 ? 'image' : 'images'})`;
  }
  return [turn.text, ...turn.calls.map(({ name, arguments: written }) => `→ ${name}(${written})`)].join('\n').trim();
}

interface PlaygroundAnswerProperties {
  readonly outcome: ConversationOutcome;
  readonly isRunning: boolean;
  readonly baseUrl: string;
}

const PlaygroundAnswer = ({ outcome, isRunning, baseUrl }: PlaygroundAnswerProperties) => {
  const { interfaceName, draft, id, text, calls, images, raw, failure, firstOutputMs, totalMs } = outcome;
  const calledInterface = interfaces[interfaceName];
  const body = calledInterface.body(draft);
  const file = sentFile(calledInterface, draft);
  const call = sentCall(calledInterface, baseUrl, body);
  return (
    <section aria-label="Answer">
      <div aria-busy={isRunning} aria-live="polite">
        {failure && <Failure failure={failure} />}
        <p class="answer">
          {text}
          {isRunning && <span class="muted"> …</span>}
        </p>
        {images.map((url, at) => (
          <img key={at} class="answer" src={url} alt={`Answer ${at + 1}`} />
        ))}
        {calls.length > 0 && (
          <ul aria-label="Calls of tools">
            {calls.map(({ name, arguments: written }, at) => (
              <li key={at}>
                <code>
                  {name}({written})
                </code>
              </li>
            ))}
          </ul>
        )}
      </div>
      {totalMs !== undefined && (
        <p class="muted">
          {firstOutputMs !== undefined && `First output after ${duration(firstOutputMs)}, `}
          {duration(totalMs)} in all, as this page saw it.
        </p>
      )}
      {totalMs !== undefined && id !== null && <CallPath id={id} />}
      <h2>The request</h2>
      <Code
        title="What was sent"
        text={JSON.stringify(file === undefined ? call.body : { ...call.body, [file.field]: file.name }, null, 2)}
      />
      <Code title="What came back" text={raw} />
      <Code title="As curl" text={curlOf(call.url, call.body, file)} />
      <Code title="In Python, with the SDK" text={calledInterface.python(new URL(baseUrl).origin, body, file)} />
    </section>
  );
};

/** Shows a long text under its title, which can be opened and copied. */
const Code = ({ title, text }: { readonly title: string; readonly text: string }) => (
  <details class="code">
    <summary>{title}</summary>
    <CopyButton text={text} label={`Copy: ${title}`} />
    <pre>{text}</pre>
  </details>
);

// Shows the path of a call that has just ended. The path is read from the call's record, which is written after the
// answer.

/**
 * Number of reads. A record usually exists within a second, and within about ten if the call was stopped; a call of an
 * unknown key has no record. Each pause is twice the previous pause: 16 seconds in all.
 */
const readsMax = 7;
const firstPauseMs = 250;

const CallPath = ({ id }: { readonly id: string }) => {
  const [call, setCall] = useState<ManagedCall>();
  useEffect(() => {
    const reading = new AbortController();
    void readRecord(id, reading.signal).then((found) => {
      if (!reading.signal.aborted) setCall(found);
    });
    return () => reading.abort();
  }, [id]);
  if (call === undefined) return null;
  return (
    <>
      <DescriptionList kind="totals" entries={figuresOf(call)} />
      <h2>
        Path of <Link view="call" parameters={{ id }} text="this call" />
      </h2>
      <TimeLine call={call} />
    </>
  );
};

const figuresOf = (call: ManagedCall): readonly (readonly [string, string])[] => [
  ['Cost', usd(call.cost_usd)],
  ['Model', call.model ?? none],
  ['Provider', call.provider ?? none],
  [call.units === null ? 'Tokens' : 'Counted', countedOf(call)],
  ...(call.first_output_ms === null ? [] : [['First output', duration(call.first_output_ms)] as const]),
  ['Total', duration(call.total_ms)],
];

async function readRecord(id: string, signal: AbortSignal): Promise<ManagedCall | undefined> {
  for (let reads = 0; reads < readsMax && !signal.aborted; reads += 1) {
    const found = await manage('GET /calls/{id}', { names: { id } }).catch(() => undefined);
    if (found !== undefined) return found.data;
    await new Promise((done) => setTimeout(done, firstPauseMs * 2 ** reads));
  }
  return undefined;
}

// Shows the fields of the playground: interface and model, prompt, and options.

interface PlaygroundFieldsProperties {
  readonly interfaceName: InterfaceName;
  readonly setInterfaceName: (name: InterfaceName) => void;
  readonly model: string;
  readonly setModel: (model: string) => void;
  readonly lastKey: string;
  readonly baseUrl: string;
  /** Tool calls that wait for their results. */
  readonly calls: readonly PlaygroundToolCall[];
}

const toolsExample = '[{"name": "weather", "description": "…", "parameters": {"type": "object", "properties": {}}}]';

const PlaygroundFields = (properties: PlaygroundFieldsProperties) => {
  const { interfaceName, setInterfaceName, model, setModel, lastKey, baseUrl, calls } = properties;
  const isFunctionCall = isFunction(model) && interfaceName === 'chat-completions';
  const { hasTurns, file } = interfaces[interfaceName];
  const isText = hasTurns && !isFunctionCall;
  return (
    <>
      <Field title="API key">
        <input
          name="api-key"
          type="password"
          required
          defaultValue={lastKey}
          autocomplete="off"
          placeholder="sk-gw-…"
          aria-describedby="api-key-help"
        />
      </Field>
      <Choice
        title="Interface"
        options={interfaceNames.map((name) => [name, interfaces[name].title])}
        value={interfaceName}
        choose={(name) => setInterfaceName(name as InterfaceName)}
      />
      <ModelField model={model} setModel={setModel} />
      <Field title="Base URL">
        <input name="base-url" type="url" required readOnly value={baseUrl} />
      </Field>
      {isText && <TextDetails />}
      <details class="wide">
        <summary>More members of the body</summary>
        <Field title="More members (JSON)">
          <textarea name="more" class="code" rows={3} spellcheck={false} placeholder={'{"top_p": 0.5}'} />
        </Field>
      </details>
      {calls.map(({ id, name, arguments: written }) => (
        <Field key={id} title={`What ${name}(${written}) answers`} isWide>
          <textarea name={resultField(id)} rows={2} required />
        </Field>
      ))}
      {file && (
        <Field title="File" isWide>
          <input name="file" type="file" required accept={file.types} />
        </Field>
      )}
      {calls.length === 0 && (
        <Field key={`message-${file === undefined}`} title={file ? 'Prompt' : 'Message'} isWide>
          <textarea name="prompt" rows={4} required={!file} defaultValue={file ? '' : 'Hello'} />
        </Field>
      )}
      {isText && <CheckField title="Stream the answer" name="stream" defaultChecked />}
      <p id="api-key-help" class="muted wide">
        A call costs what it costs any client with this key. The key is forgotten with the page; make one under{' '}
        <Link view="keys" text="Keys" />.
      </p>
    </>
  );
};

const ModelField = ({ model, setModel }: Pick<PlaygroundFieldsProperties, 'model' | 'setModel'>) => {
  const mayList = useRights().holds('viewer');
  const models =
    useManagementRequest(mayList ? 'GET /models' : undefined, { query: { limit: '200' } }).answer?.data ?? [];
  const functions =
    useManagementRequest(mayList ? 'GET /functions' : undefined, { query: { limit: '200' } }).answer?.data ?? [];
  return (
    <>
      <Field title="Model">
        <input
          name="model"
          list="models"
          required
          value={model}
          onInput={({ currentTarget }) => setModel(currentTarget.value)}
          spellcheck={false}
          autocapitalize="none"
        />
      </Field>
      <datalist id="models">
        <option value="auto" />
        {models.map(({ id }) => (
          <option key={id} value={id} />
        ))}
        {functions.map(({ workspace, id }) => (
          <option key={`${workspace}/${id}`} value={`gw/function/${id}`} />
        ))}
      </datalist>
    </>
  );
};

const TextDetails = () => (
  <details class="wide">
    <summary>System text, parameters, tools, images</summary>
    <div class="playground">
      <Field title="System text" isWide>
        <textarea name="system" rows={2} />
      </Field>
      <Field title="Temperature">
        <input name="temperature" type="number" min={0} max={2} step="any" placeholder="default" />
      </Field>
      <Field title="Output tokens at most">
        <input name="max-tokens" type="number" min={1} placeholder="default" />
      </Field>
      <Field title="Images">
        <input name="images" type="file" multiple accept="image/*" />
      </Field>
      <Field title="Tools (JSON)" isWide>
        <textarea name="tools" class="code" rows={3} spellcheck={false} placeholder={toolsExample} />
      </Field>
    </div>
  </details>
);
