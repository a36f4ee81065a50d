// Gateways whose provider `bad` fails in the ways of the simulator, alone or with a provider `good` after it.
import { expect } from '#jest';
import { credentialsOf } from './credentials.ts';
import { type Harness, type HarnessOptions, startHarness } from './harness.ts';

const canary = 'sk-provider-secret-canary';

export interface FaultGateway {
  readonly gateway: Harness;
  /**
   * Returns the providers in the order of the calls. A call whose pooled socket ends without an answer is sent once
   * more, because the socket may have died while idle.
   */
  readonly calledProviders: () => readonly string[];
  /** Asserts what the simulator has sent in the first call since its log was cleared. */
  readonly expectSent: (upstream: string) => void;
  /** Stops the gateway. Fails if a log line contains the credential of a provider. */
  stop(): Promise<void>;
}

/** Statuses of faults whose names do not say it; null if no answer begins. */
const statuses: Readonly<Record<string, number | null>> = {
  'error-html': 502,
  'error-empty': 500,
  redirect: 307,
  reset: null,
  close: null,
};

/** Words that a fault sends, in one of the formats, and that no client may see. */
const words: readonly (readonly [fault: RegExp, words: RegExp])[] = [
  [/^error-leak/, new RegExp(canary)],
  [/^error-html/, /nginx/],
  [/insufficient_quota/, /quota/i],
  [/rate_limit_exceeded/, /rate.?limit|throttling|too many|RESOURCE_EXHAUSTED/i],
  [/context_length_exceeded/, /context|too long|exceeds the maximum/i],
];

function statusOf(upstream: string): number | null | undefined {
  const [name = ''] = upstream.split(':');
  const status = /^error-(\d+)$/.exec(name)?.[1];
  return status === undefined ? statuses[name] : Number(status);
}

/** Starts a gateway whose models are `alone/BEHAVIOUR` and `backed/BEHAVIOUR`; `good` has these fields. */
export async function startFaultGateway({
  speaks,
  alone,
  backed,
  good,
}: {
  readonly speaks: HarnessOptions['speaks'];
  readonly alone: readonly string[];
  readonly backed: readonly string[];
  readonly good: Readonly<Record<string, unknown>>;
}): Promise<FaultGateway> {
  const route = (provider: string, upstream: string, more = {}) => ({
    provider,
    upstream,
    more: { ...more, supported_params: {} },
  });
  const gateway = await startHarness({
    speaks,
    models: Object.fromEntries([
      ...alone.map((upstream) => [`alone/${upstream}`, [route('bad', upstream)]]),
      ...backed.map((upstream) => [`backed/${upstream}`, [route('bad', upstream), route('good', 'echo', good)]]),
    ]),
    replace: () => ({ credentials: credentialsOf(() => ({ headers: { authorization: `Bearer ${canary}` } })) }),
  });
  const unanswered = ['reset', 'close', 'half-head', 'no-http'];
  return {
    gateway,
    calledProviders: () =>
      gateway.simulator.calls
        .filter(({ behaviour }, at, calls) => !unanswered.includes(behaviour) || calls[at - 1]?.behaviour !== behaviour)
        .map(({ provider }) => provider),
    expectSent(upstream) {
      const [call] = gateway.simulator.calls;
      const status = statusOf(upstream);
      if (status !== undefined) expect(call).toMatchObject({ status, closedEarly: false });
      // An answer may name its model, which is the fault.
      const text = call?.answerText.replaceAll(upstream, '');
      for (const [fault, expectedText] of words) if (fault.test(upstream)) expect(text).toMatch(expectedText);
    },
    async stop() {
      await gateway.stop();
      if (gateway.logLines.some((line) => line.includes(canary))) throw new Error('a log line has a credential');
    },
  };
}
