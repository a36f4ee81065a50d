// Which provider keeps an answer, for the calls that will refer to it: written while the answer is under way, so that it is
// known before the client has its end and may ask again.
import { speaksOwn } from '../../../shared/configuration/catalogue/index.ts';
import { startDeadline, waitAtMost } from '../../../shared/foundation/time/index.ts';
import { hasSeveralKeepers } from '../../../shared/routing/planner/index.ts';
import { retryWrite } from '../../../shared/storage/store/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { ProvidedAnswer } from '../provider-call.ts';
import type { AdmittedPlain } from '../stages.ts';

/** A store that does not answer holds the end of no answer up for longer. */
const answerWaitsMaxMs = 1_000;
/** Within the time that an adapter gives to what follows an answer. */
const writesMaxMs = 5_000;

export interface KeeperMemory {
  /** Told of an answer, or of each event of it. Only the first id that it hears of counts. */
  readonly hear: (keptId: string | undefined) => void;
  /** What was heard is written, or the answer has waited long enough. Never rejects. */
  readonly written: () => Promise<void>;
}

export function openKeeperMemory(
  { providerAffinity, clock, log }: GatewayDependencies,
  call: AdmittedPlain,
  { admitted: { candidate } }: ProvidedAnswer,
): KeeperMemory {
  const { request, workspace, scope } = call;
  let writing: Promise<void> | undefined;

  function remember(id: string): Promise<void> {
    const ids = [id, ...(request.keptIds ?? [])];
    const kept = { provider: candidate.provider.id, nowMs: clock.nowMs() };
    const write = () => providerAffinity.remember(workspace.id, ids, kept);
    const deadline = startDeadline(clock, clock.nowMs(), writesMaxMs);
    return retryWrite(clock, write, { deadline }).catch((error: unknown) =>
      log.error({ event: 'keeper_not_remembered', correlation_id: scope.correlationId }, error),
    );
  }

  return {
    hear(keptId) {
      if (keptId === undefined || writing !== undefined) return;
      const written =
        request.keepsAnswer && speaksOwn(candidate, request.interfaceId) && hasSeveralKeepers(request, call)
          ? remember(keptId)
          : Promise.resolve();
      writing = written;
      // A process may be frozen after the last byte: what is still to be written is waited for.
      scope.deferred.add(() => written);
    },
    written: async () => {
      if (writing !== undefined) await waitAtMost(clock, answerWaitsMaxMs, writing, () => undefined);
    },
  };
}
