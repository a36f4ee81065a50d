// The outcome of a call of the playground, and the same call as code.

import { interfaces } from '../../../../shared/protocol/interface-pages/index.ts';
import {
  curlOf,
  type Draft,
  type PlaygroundTurn,
  sentCall,
  sentFile,
} from '../../../../shared/protocol/playground/index.ts';
import type { ConversationOutcome } from '../connection/playground/use-conversation.ts';
import { CopyButton } from '../parts/button.tsx';
import { duration } from '../parts/shown-values.ts';
import { Failure } from '../parts/states.tsx';
import { CallPath } from './call-path.tsx';

const titles = { user: 'You', assistant: 'Model', tool: 'Tools' } as const;

/** Turns that were sent. */
export const PlaygroundTurns = ({ turns, file }: Pick<Draft, 'turns' | 'file'>) => (
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

export const PlaygroundAnswer = ({ outcome, isRunning, baseUrl }: PlaygroundAnswerProperties) => {
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

/** A text of many lines under its title, to be opened and copied. */
const Code = ({ title, text }: { readonly title: string; readonly text: string }) => (
  <details class="code">
    <summary>{title}</summary>
    <CopyButton text={text} label={`Copy: ${title}`} />
    <pre>{text}</pre>
  </details>
);
