// Tries calls with an API key, turn by turn, through any interface: request and answer, cost, path, and the same
// request for a shell and for a program.
import { useState } from 'preact/hooks';
import { type InterfaceName, interfaceNames, interfaces } from '../../../../shared/protocol/interface-pages/index.ts';
import { isFunction } from '../../../../shared/protocol/playground/index.ts';
import type { ViewAddress } from '../connection/address.ts';
import { useConversation } from '../connection/playground/use-conversation.ts';
import { useBaseUrl } from '../connection/settings.ts';
import { Button } from '../parts/button.tsx';
import { Form } from '../parts/form.tsx';
import { Failure } from '../parts/states.tsx';
import { useRequests } from '../parts/use-requests.ts';
import { PlaygroundAnswer, PlaygroundTurns } from './playground-answer.tsx';
import { readDraft } from './playground-draft.ts';
import { PlaygroundFields } from './playground-fields.tsx';

/** Kept by this page, and lost with it. */
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
