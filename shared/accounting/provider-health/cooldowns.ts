// Puts providers that limited a call, or failed two calls, last in plans for a while: in the plans of one workspace as
// long as only its calls failed, in all plans once calls of two workspaces failed. So no workspace changes the plans of
// another workspace. Instances share their observations through one item. Losing the item only makes first tries
// slower, so no failure of the store is reported.
import { type Cache, createCache } from '../../foundation/cache/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import type { Store } from '../../storage/store/index.ts';
import {
  createCooldownItem,
  type FailureMark,
  failuresWithinMs,
  type UnreachedMark,
  unreachedLifeMs,
} from './cooldown-item.ts';

/** The unit of a cooldown, which is one model of one provider. A limit on one model does not affect the others. */
interface CooledEntry {
  readonly provider: string;
  readonly model: string;
}

interface ReportedFailure {
  readonly workspace: string;
  /** Id that is unique to the client's call, so that the failures of one call count once. */
  readonly callId: string;
  readonly isRateLimited: boolean;
  /** Reason why the provider was not reached, in one word; absent if the provider was reached. */
  readonly unreached?: string | undefined;
  /** Wait that the provider named; 0 or absent if the provider named no wait. */
  readonly retryAfterMs?: number | undefined;
}

export interface Cooldowns {
  /** True if the entry cools down for calls of the workspace now, as far as this instance knows. */
  isCooling(entry: CooledEntry, workspace: string): boolean;
  /** Returns the workspaces for which the entry cools down now. */
  coolingFor(entry: CooledEntry): 'all' | readonly string[];
  /** Returns the latest failure of the entry, while its mark is stored. */
  lastFailure(entry: CooledEntry): 'limited' | 'failing' | undefined;
  /** Returns why the provider was not reached, if that was its last kind of failure. */
  unreached(provider: string): string | undefined;
  /** Returns an attribute that other modules store next to the cooldowns, as far as this instance knows. */
  noted(attribute: string): unknown;
  /** Reads other instances' reports from the store, if the last read was long ago. Never rejects. */
  refresh(): Promise<void>;
  /** Returns true if `refresh` would read. */
  isStale(): boolean;
  /** Reports a failure. Of overlapping cooldowns the longest counts. Does no I/O. */
  report(entry: CooledEntry, failure: ReportedFailure): void;
  /** Shares the reports made here with other instances; undefined if there are none. Never rejects. */
  flush(): Promise<unknown> | undefined;
}

const refreshAfterMs = 5_000;
const cooldownMs = 10_000;
/**
 * Longest cooldown. A provider that requires a longer cooldown is called again nevertheless, because it is last in
 * plans, not switched off.
 */
const cooldownMaxMs = 600_000;
/** Maximum number of entries that an instance remembers. Only failing entries are remembered. */
const entriesMax = 1_000;
/** Shortest time between two shared reasons for one provider. */
const unreachedAgainMs = 10_000;
/**
 * Maximum number of workspaces per entry, the latest ones. If more than two have recent failures, the entry cools
 * down for all already.
 */
const workspacesPerEntryMax = 8;

interface Failure extends FailureMark {
  /** Id of the call; undefined when another instance reported it. */
  readonly callId?: string;
  /** Duration of the entry's cooldown if this failure turns out to be the second of two. */
  readonly coolMs: number;
}

/** Observations of this instance, by the name of an entry. */
function createCooldownMemory(clock: Clock) {
  const untilMs: Cache<number> = createCache({ sizeMax: entriesMax });
  /** The latest failure of each workspace, newest first. */
  const failures: Cache<readonly Failure[]> = createCache({ sizeMax: entriesMax });
  const unreached: Cache<UnreachedMark> = createCache({ sizeMax: entriesMax });
  const failuresAt = (name: string): readonly Failure[] => failures.get(name) ?? [];
  /** Returns the end of the cooldown for all workspaces; 0 if there is none. */
  const untilMsOf = (name: string): number => untilMs.get(name) ?? 0;
  return {
    untilMsOf,
    failuresAt,
    unreachedAt: (provider: string): UnreachedMark | undefined => unreached.get(provider),
    learnUnreached(provider: string, mark: UnreachedMark): void {
      if (mark.atMs >= (unreached.get(provider)?.atMs ?? 0)) unreached.set(provider, mark);
    },
    coolsForAll: (name: string): boolean => untilMsOf(name) > clock.nowMs(),
    coolsFor: ({ coolingUntilMs }: FailureMark): boolean => coolingUntilMs > clock.nowMs(),
    failureOf: (name: string, workspace: string): Failure | undefined =>
      failuresAt(name).find((failure) => failure.workspace === workspace),
    learn(name: string, until: number): void {
      // Ends in the past must not displace later ones.
      if (until > Math.max(clock.nowMs(), untilMsOf(name))) untilMs.set(name, until);
    },
    remember(name: string, failure: Failure): void {
      const others = failuresAt(name).filter(({ workspace }) => workspace !== failure.workspace);
      failures.set(name, [failure, ...others].slice(0, workspacesPerEntryMax));
    },
  };
}

type CooldownMemory = ReturnType<typeof createCooldownMemory>;

/** Exchanges observations between instances. */
function createCooldownSharing(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  memory: CooldownMemory,
) {
  const shared = createCooldownItem({ store, clock });
  const { untilMsOf, failureOf, coolsForAll, coolsFor, learn, remember, unreachedAt, learnUnreached } = memory;
  const newUnreached = new Set<string>();
  /** Cooldowns that the other instances do not know yet. */
  const newCoolings = new Set<string>();
  const newFailures = new Map<string, Set<string>>();
  let requestedAtMs = Number.NEGATIVE_INFINITY;
  const isStale = () => clock.nowMs() - requestedAtMs >= refreshAfterMs;

  function learnAll(): void {
    for (const [name, until] of shared.coolings()) learn(name, until);
    for (const [provider, mark] of shared.unreached()) learnUnreached(provider, mark);
    for (const { name, ...mark } of shared.marks()) {
      const known = failureOf(name, mark.workspace);
      const coolingUntilMs = Math.max(mark.coolingUntilMs, known?.coolingUntilMs ?? 0);
      if (known !== undefined && known.failedAtMs >= mark.failedAtMs) remember(name, { ...known, coolingUntilMs });
      else if (isRecent(mark, clock.nowMs())) remember(name, { ...mark, coolingUntilMs, coolMs: cooldownMs });
    }
  }

  async function sendCooling(name: string): Promise<void> {
    await shared.writeCooling(name, untilMsOf(name));
    learnAll();
  }

  /** Shares a failure, which may begin a cooldown together with other instances' recent marks. */
  async function sendFailure(name: string, workspace: string): Promise<void> {
    const failure = failureOf(name, workspace);
    if (failure === undefined) return;
    const before = (await shared.writeMark({ name, ...failure })).filter((mark) => isRecent(mark, failure.failedAtMs));
    learnAll();
    if (coolsForAll(name)) return;
    const known = failureOf(name, workspace) ?? failure;
    const until = failure.failedAtMs + failure.coolMs;
    if (before.some((mark) => mark.workspace !== workspace)) {
      learn(name, until);
      return sendCooling(name);
    }
    // A write whose answer was lost finds its own mark, and this is one failure, not two.
    const isSecond = before.some(({ failedAtMs }) => failedAtMs !== failure.failedAtMs);
    if (!isSecond || coolsFor(known)) return;
    const cooled = { ...known, coolingUntilMs: until };
    remember(name, cooled);
    await shared.writeMark({ name, ...cooled });
  }

  return {
    noted: shared.noted,
    noteCooling(name: string): void {
      newCoolings.add(name);
      newFailures.delete(name);
    },
    noteFailure(name: string, workspace: string): void {
      newFailures.set(name, (newFailures.get(name) ?? new Set()).add(workspace));
    },
    noteUnreached(provider: string): void {
      newUnreached.add(provider);
    },
    isStale,
    async refresh(): Promise<void> {
      if (!isStale()) return;
      requestedAtMs = clock.nowMs();
      // If the read fails, this instance's own knowledge is enough until the next time.
      await shared.read().then(learnAll, () => {});
    },
    flush() {
      const failed = [...newFailures].flatMap(([name, workspaces]) =>
        [...workspaces].map((workspace) => sendFailure(name, workspace)),
      );
      const unreached = [...newUnreached].map(async (provider) => {
        const mark = unreachedAt(provider);
        if (mark !== undefined) await shared.writeUnreached(provider, mark);
      });
      const sendings = [...[...newCoolings].map(sendCooling), ...failed, ...unreached];
      newCoolings.clear();
      newUnreached.clear();
      newFailures.clear();
      // If the writes fail, the other instances find out for themselves.
      return sendings.length === 0 ? undefined : Promise.allSettled(sendings);
    },
  };
}

export function createCooldowns(options: { readonly store: Store; readonly clock: Clock }): Cooldowns {
  const { clock } = options;
  const memory = createCooldownMemory(clock);
  const { failuresAt, failureOf, coolsForAll, coolsFor, learn, remember } = memory;
  const { unreachedAt, learnUnreached } = memory;
  const { noted, noteCooling, noteFailure, noteUnreached, isStale, refresh, flush } = createCooldownSharing(
    options,
    memory,
  );

  /** Begins a cooldown, once. Reports while the entry cools down may extend it here, and are not written. */
  function cool(name: string, until: number): void {
    const isUnderWay = coolsForAll(name);
    learn(name, until);
    if (!isUnderWay) noteCooling(name);
  }

  /**
   * Notes why a provider was not reached. An empty reason means that the provider was reached, and failed in another
   * way.
   */
  function noteReason(provider: string, reason = ''): void {
    const known = unreachedAt(provider);
    const atMs = clock.nowMs();
    const isNews = reason !== '' || (known?.reason ?? '') !== '';
    if (!isNews || (known !== undefined && atMs - known.atMs < unreachedAgainMs)) return;
    learnUnreached(provider, { reason, atMs });
    noteUnreached(provider);
  }

  return {
    noted,
    isStale,
    refresh,
    flush,
    unreached(provider) {
      const known = unreachedAt(provider);
      const isLate = known === undefined || clock.nowMs() - known.atMs >= unreachedLifeMs;
      return isLate || known.reason === '' ? undefined : known.reason;
    },
    isCooling(entry, workspace) {
      const name = nameOf(entry);
      const workspaceFailure = failureOf(name, workspace);
      return coolsForAll(name) || (workspaceFailure !== undefined && coolsFor(workspaceFailure));
    },

    coolingFor(entry) {
      const name = nameOf(entry);
      if (coolsForAll(name)) return 'all';
      return failuresAt(name).flatMap((failure) => (coolsFor(failure) ? failure.workspace : []));
    },

    lastFailure(entry) {
      const recent = failuresAt(nameOf(entry)).filter((failure) => isRecent(failure, clock.nowMs()));
      const last = recent.toSorted((a, b) => b.failedAtMs - a.failedAtMs)[0];
      return last && (last.isRateLimited ? 'limited' : 'failing');
    },

    report(entry, { workspace, callId, isRateLimited, unreached, retryAfterMs = 0 }) {
      noteReason(entry.provider, unreached);
      const [name, nowMs] = [nameOf(entry), clock.nowMs()];
      const coolMs = Math.min(retryAfterMs || cooldownMs, cooldownMaxMs);
      const recent = failuresAt(name).filter((failure) => isRecent(failure, nowMs));
      const workspaceFailure = recent.find((failure) => failure.workspace === workspace);
      const isSameCall = workspaceFailure?.callId === callId;
      const failedAtMs = isSameCall ? workspaceFailure.failedAtMs : nowMs;
      const coolingUntilMs = workspaceFailure?.coolingUntilMs ?? 0;
      const failure: Failure = { workspace, callId, failedAtMs, coolMs, coolingUntilMs, isRateLimited };
      remember(name, failure);
      // Failures of calls that ran when the cooldown began do not extend it; a wait that the provider named does.
      if (coolsForAll(name) && retryAfterMs === 0) return;
      if (recent.some((other) => other.workspace !== workspace)) return cool(name, nowMs + coolMs);
      const isUnderWay = coolsFor(failure);
      if (isUnderWay && retryAfterMs === 0) return;
      if (isRateLimited || (workspaceFailure !== undefined && !isSameCall)) {
        remember(name, { ...failure, coolingUntilMs: Math.max(failure.coolingUntilMs, nowMs + coolMs) });
        if (!isUnderWay) noteFailure(name, workspace);
      } else if (!isSameCall) noteFailure(name, workspace);
    },
  };
}

const nameOf = ({ provider, model }: CooledEntry): string => `${provider} ${model}`;

/** True if the failure counts together with another one at this time. */
const isRecent = ({ failedAtMs, coolingUntilMs }: FailureMark, atMs: number): boolean =>
  Math.abs(atMs - failedAtMs) <= failuresWithinMs || coolingUntilMs > atMs;
