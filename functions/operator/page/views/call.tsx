// Shows one call: its path through providers, its record, and its bodies if they are stored.

import { useState } from 'preact/hooks';
import { unitsText } from '../../../../shared/foundation/constants/index.ts';
import {
  type ConversationPart,
  type ConversationTurn,
  readAnswerTurns,
  readRequestTurns,
} from '../../../../shared/protocol/conversation/index.ts';
import { turnsOf } from '../../../../shared/protocol/interface-pages/index.ts';
import type { ViewAddress } from '../connection/address.ts';
import type { ManagedCall, ShownContent } from '../connection/documents.ts';
import { useManagementRequest } from '../connection/management.ts';
import { useRights } from '../connection/session-rights.ts';
import { Button, CopyButton } from '../parts/button.tsx';
import { DescriptionList } from '../parts/description-list.tsx';
import { Link } from '../parts/link.tsx';
import { usdWithDigits } from '../parts/money.ts';
import { count, duration, none, tagPairs } from '../parts/shown-values.ts';
import { Shown } from '../parts/states.tsx';
import { Time } from '../parts/time.tsx';
import { Outcome, TimeLine } from '../parts/time-line.tsx';

export const CallView = ({ address }: { readonly address: ViewAddress }) => {
  const id = address.parameters.get('id') ?? '';
  const loaded = useManagementRequest('GET /calls/{id}', { names: { id } });
  return (
    <>
      <p>
        <code>{id}</code>
      </p>
      <Shown loaded={loaded}>{({ data }) => <Details call={data} />}</Shown>
    </>
  );
};

const Details = ({ call }: { readonly call: ManagedCall }) => (
  <>
    <h2>
      <Outcome outcome={call.outcome} />
    </h2>
    {call.error_message !== null && <p>{call.error_message}</p>}
    {call.note !== null && <p>{call.note}</p>}
    <TimeLine call={call} />
    <DescriptionList kind="facts" entries={facts(call)} />
    <CallContentView call={call} />
  </>
);

const guardrailText = ({ id, direction, action, ms }: NonNullable<ManagedCall['guardrails']>[number]): string =>
  `${id} on ${direction}: ${action}, ${duration(ms)}`;

/** Lists the facts that apply to the call. */
const facts = (call: ManagedCall) =>
  (
    [
      ['Time', <Time instant={call.created_at} />],
      ['Status', call.status === null ? 'the client left before its end' : String(call.status)],
      ['Model', call.model ?? none],
      ['Model asked for', call.model_asked],
      ['Provider', call.provider],
      ['Function', call.function_id === null ? null : `${call.function_id} @ ${call.revision_id ?? none}`],
      ['Total', duration(call.total_ms)],
      ['First output', call.first_output_ms === null ? null : duration(call.first_output_ms)],
      ['Waited for a slot of a provider', call.queued_ms === 0 ? null : duration(call.queued_ms)],
      ['In the gateway itself', duration(call.gateway_ms)],
      ['Cost', usdWithDigits(call.cost_usd)],
      [
        'Input tokens',
        `${count(call.prompt_tokens)}${call.cached_tokens > 0 ? `, ${count(call.cached_tokens)} cached` : ''}`,
      ],
      ['Output tokens', `${count(call.completion_tokens)}${call.estimated ? ', estimated' : ''}`],
      ['Counted', call.units && unitsText(call.units)],
      ['Interface', call.interface],
      [
        'Kind',
        [call.stream ? 'stream' : 'JSON', call.cache_hit && 'cached answer', call.is_byok && 'own provider key']
          .filter(Boolean)
          .join(', '),
      ],
      ['Guardrails', call.guardrails?.map(guardrailText).join('; ')],
      ['Replay of', call.replay_of && <Link view="call" parameters={{ id: call.replay_of }} text={call.replay_of} />],
      ['Workspace', call.workspace],
      [
        'Key',
        <Link view="calls" parameters={{ key: call.key_public_id }} text={call.key_name ?? call.key_public_id} />,
      ],
      ['Tags', tagPairs(call.tags ?? {})],
      ['User', call.user],
      ['Title', call.title],
      ['Referer', call.referer],
      ['Trace', call.trace_id && <code>{call.trace_id}</code>],
      ['Span', call.span_id],
      [
        'Session',
        call.session_id && (
          <Link view="calls" parameters={{ session: call.session_id, since: '30d' }} text={call.session_id} />
        ),
      ],
    ] as const
  ).filter(([, text]) => text !== null && text !== undefined && text !== '');

// Shows the bodies of a call. The bodies are requested on demand, because each reading is logged. They are text of
// other parties, so the page shows them as text, and calls no address in them.

const CallContentView = ({ call }: { readonly call: ManagedCall }) => {
  const [isAsked, setIsAsked] = useState(false);
  const rights = useRights();
  const loaded = useManagementRequest(isAsked ? 'GET /calls/{id}/content' : undefined, { names: { id: call.id } });
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
  /** Undefined if the bodies are not a conversation. */
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

/** Shows the address of an image without loading it, because its host would see who looks. */
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
