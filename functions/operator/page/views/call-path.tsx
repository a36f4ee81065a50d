// The path of a call that has just ended, from its record, which is written after the answer.
import { useEffect, useState } from 'preact/hooks';
import type { ManagedCall } from '../connection/documents.ts';
import { manage } from '../connection/management.ts';
import { DescriptionList } from '../parts/description-list.tsx';
import { Link } from '../parts/link.tsx';
import { usd } from '../parts/money.ts';
import { countedOf, duration, none } from '../parts/shown-values.ts';
import { TimeLine } from '../parts/time-line.tsx';

/**
 * A record is there within a second as a rule, within ten or so where the call was stopped; a call of a key that is not
 * known has none. Each pause is twice the last one: 16 seconds in all.
 */
const readsMax = 7;
const firstPauseMs = 250;

export const CallPath = ({ id }: { readonly id: string }) => {
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
