// The bodies of a call, read when they are asked for, because each reading is logged. All of it is text of others: it is
// shown as text, and no address in it is called.
import { useState } from 'preact/hooks';
import {
  type ConversationPart,
  type ConversationTurn,
  readAnswerTurns,
  readRequestTurns,
} from '../../../../shared/protocol/conversation/index.ts';
import { turnsOf } from '../../../../shared/protocol/interface-pages/index.ts';
import type { ManagedCall, ShownContent } from '../connection/documents.ts';
import { useManaged } from '../connection/management.ts';
import { useRights } from '../connection/session-rights.ts';
import { Button, CopyButton } from '../parts/button.tsx';
import { Shown } from '../parts/states.tsx';
import { Time } from '../parts/time.tsx';

export const CallContentView = ({ call }: { readonly call: ManagedCall }) => {
  const [isAsked, setIsAsked] = useState(false);
  const rights = useRights();
  const loaded = useManaged(isAsked ? 'GET /calls/{id}/content' : undefined, { names: { id: call.id } });
  if (call.content?.state === 'failed') return <p class="muted">Its bodies could not be stored.</p>;
  if (call.content === null && call.replay_of === null) return null;
  if (!rights.holds('editor', call.workspace)) return null;
  return (
    <section aria-label="Content">
      <h2>Content</h2>
      {isAsked ? (
        <Shown loaded={loaded}>{({ data }) => <Bodies content={data} />}</Shown>
      ) : (
        <p>
          <Button text="Show content" onClick={() => setIsAsked(true)} />{' '}
          <span class="muted">The log says who read it.</span>
        </p>
      )}
    </section>
  );
};

const Bodies = ({ content }: { readonly content: ShownContent }) => {
  const { interface: format, request, answer, sent, blocked, cut, expires_at: end } = content;
  return (
    <>
      {cut && <p class="muted">The end of a body is missing: 4 MiB of a call are kept.</p>}
      <Body title="Request" text={request} turns={readRequestTurns(turnsOf(format), request)} />
      {answer === null ? (
        <p class="muted">There is no answer: the client left before.</p>
      ) : (
        <Body
          title={`Answer, ${answer.status}`}
          text={answer.body}
          turns={readAnswerTurns(turnsOf(format), answer.body)}
        />
      )}
      {sent.map(({ provider, model, format: spoken, body }, at) => (
        <Body
          key={at}
          title={`Sent to ${provider} (${model}, ${spoken})`}
          text={body}
          turns={readRequestTurns(turnsOf(spoken), body)}
        />
      ))}
      {blocked !== null && <Body title="Blocked by a guardrail" text={blocked} turns={undefined} />}
      {end !== null && (
        <p class="muted">
          Deleted <Time instant={end} />
        </p>
      )}
    </>
  );
};

interface BodyProperties {
  readonly title: string;
  readonly text: string;
  /** Undefined where it is no conversation. */
  readonly turns: readonly ConversationTurn[] | undefined;
}

const Body = ({ title, text, turns }: BodyProperties) => (
  <>
    <h3>{title}</h3>
    {turns && <Turns title={title} turns={turns} />}
    <details class="code" open={turns === undefined}>
      <summary>{isJson(text) ? 'JSON' : 'Text'}</summary>
      <CopyButton text={text} label={`Copy: ${title}`} />
      <pre>{indented(text)}</pre>
    </details>
  </>
);

const Turns = ({ title, turns }: { readonly title: string; readonly turns: readonly ConversationTurn[] }) => (
  <ol class="turns" aria-label={title}>
    {turns.map(({ role, parts, finishReason }, at) => (
      <li key={at}>
        <strong>{role}</strong>
        {parts.map((part, place) => (
          <Part key={place} part={part} />
        ))}
        {finishReason !== undefined && <span class="muted"> ends: {finishReason}</span>}
      </li>
    ))}
  </ol>
);

const Part = ({ part }: { readonly part: ConversationPart }) => {
  if (part.kind === 'text') return <p class="said">{part.text}</p>;
  if (part.kind === 'image') return <Image url={part.url} />;
  return (
    <details>
      <summary>{titleOf(part)}</summary>
      <pre>{indented(part.text)}</pre>
    </details>
  );
};

const titles = { thinking: 'thinking', tool_result: 'result of a tool', other: 'another part' } as const;

const titleOf = (part: Exclude<ConversationPart, { readonly kind: 'text' | 'image' }>): string =>
  part.kind === 'tool_call' ? `call of ${part.name}` : titles[part.kind];

/** An image at an address is not loaded: its host would see who looks. */
const Image = ({ url }: { readonly url: string }) =>
  /^data:image\/(png|jpeg|gif|webp);base64,/.test(url) ? (
    <img class="thumbnail" src={url} alt="sent by the client" />
  ) : (
    <p class="muted">image: {url.slice(0, urlShownMax)}</p>
  );

const urlShownMax = 200;

const isJson = (text: string): boolean => indented(text) !== text || /^[[{]/.test(text);

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
