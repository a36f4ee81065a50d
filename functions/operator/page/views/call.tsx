// One call: its path through providers, its record, and its bodies where they are kept.
import { unitsText } from '../../../../shared/foundation/constants/index.ts';
import type { ViewAddress } from '../connection/address.ts';
import type { ManagedCall } from '../connection/documents.ts';
import { useManaged } from '../connection/management.ts';
import { DescriptionList } from '../parts/description-list.tsx';
import { Link } from '../parts/link.tsx';
import { usdWithDigits } from '../parts/money.ts';
import { count, duration, none, tagPairs } from '../parts/shown-values.ts';
import { Shown } from '../parts/states.tsx';
import { Time } from '../parts/time.tsx';
import { Outcome, TimeLine } from '../parts/time-line.tsx';
import { CallContentView } from './call-content.tsx';

export const CallView = ({ address }: { readonly address: ViewAddress }) => {
  const id = address.parameters.get('id') ?? '';
  const loaded = useManaged('GET /calls/{id}', { names: { id } });
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

/** Facts that apply to the call. */
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
