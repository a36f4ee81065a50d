// Gateways whose provider `bad` fails in the ways of the simulator, alone or with a provider `good` after it.
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
  /** Stops the gateway. Fails if a log line contains the credential of a provider. */
  stop(): Promise<void>;
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
    async stop() {
      await gateway.stop();
      if (gateway.logLines.some((line) => line.includes(canary))) throw new Error('a log line has a credential');
    },
  };
}
