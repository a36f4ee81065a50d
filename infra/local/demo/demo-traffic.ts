// Makes the calls of the demo on request, so that reports and the console have something to show. The calls are real
// requests for simulated models, at the address that clients use, and some calls fail.
import { type Clock, sleep, systemClock } from '../../../shared/foundation/time/index.ts';

/**
 * The first calls follow each other without a pause, so that reports are not empty; the others continue for a quarter
 * of an hour.
 */
export const demoTraffic = { callsMax: 500, callsAtOnce: 60, pauseMs: 2_000 } as const;

const ask = (content: string) => [{ role: 'user', content }];

/** Bodies of calls, used in turn. */
const bodies: readonly object[] = [
  { model: 'auto', messages: ask('Say hello.'), stream: true },
  { model: 'demo/chat', messages: ask('Name three rivers of Europe and the seas that they end in.') },
  { model: 'demo/fallback', messages: ask('Which provider are you?') },
  { model: 'demo/reasoning', messages: ask('How many prime numbers are there below 100?'), stream: true },
  { model: 'demo/chat', messages: ask('The same question, and the same answer.'), cache: { enabled: true } },
  { model: 'gw/function/label-ticket', messages: ask('{"ticket": "The invoice has two totals."}') },
  { model: 'demo/tools', messages: ask('What is the weather in Lisbon?') },
  { model: 'demo/chat', messages: ask('Summarize this. '.repeat(60)), stream: true },
  // The cheaper provider of this model always fails, and no other is allowed.
  { model: 'demo/fallback', messages: ask('Fail, please.'), provider: { only: 'globex' } },
  { model: 'demo/chat', messages: ask('Write a limerick about a gateway.') },
  { model: 'demo/of-no-provider', messages: ask('A model that is not in the catalogue.') },
];

interface DemoTraffic {
  /** Resolves at the end of the last call. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** Starts the calls. `url` is the base URL of the gateway. */
export function startDemoTraffic(url: string, key: string, clock: Clock = systemClock): DemoTraffic {
  const stopping = new AbortController();
  const { signal } = stopping;
  let calls = 0;
  const makeCalls = async (): Promise<void> => {
    while (calls < demoTraffic.callsMax && !signal.aborted) {
      await makeCall(url, key, bodies[calls % bodies.length], signal);
      calls += 1;
      if (calls >= demoTraffic.callsAtOnce) await sleep(clock, demoTraffic.pauseMs, signal);
    }
  };
  const ended = makeCalls();
  return {
    ended,
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

/** Makes a call, whose result the gateway's records show. */
async function makeCall(url: string, key: string, body: unknown, signal: AbortSignal): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-title': 'demo traffic' };
  const call = fetch(`${url}/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body), signal });
  await call.then((response) => response.arrayBuffer()).catch(() => {});
}
