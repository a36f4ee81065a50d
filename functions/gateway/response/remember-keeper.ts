// Which provider keeps an answer, for the calls that will refer to it: written while the answer is under way, so that it is
// known before the client has its end and may ask again.
import type { KeptIds } from '../../../shared/accounting/provider-affinity/index.ts';
import { speaksOwn } from '../../../shared/configuration/catalogue/index.ts';
import { startDeadline, waitAtMost } from '../../../shared/foundation/time/index.ts';
import { retryWrite } from '../../../shared/storage/store/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { ProvidedAnswer } from '../provider-call.ts';
import type { AdmittedPlain } from '../stages.ts';

/** A store that does not answer holds the end of no answer up for longer. */
const answerWaitsMaxMs = 1_000;
/** Within the time that an adapter gives to what follows an answer. */
const writesMaxMs = 5_000;
/** Of one answer: a response and its items. */
const keptIdsMax = 64;

export interface KeeperMemory {
  /** Told of an answer, or of each event of it. The first id is that of the answer, which is written at once. */
  readonly hear: (keptIds: readonly string[] | undefined) => void;
  /** What was heard is written, or the answer has waited long enough. Never rejects. */
  readonly written: () => Promise<void>;
}

export function openKeeperMemory(
  { providerAffinity, clock, log }: GatewayDependencies,
  call: AdmittedPlain,
  { admitted: { candidate } }: ProvidedAnswer,
): KeeperMemory {
  const { request, workspace, scope } = call;
  const isKept = request.keepsAnswer && speaksOwn(candidate, request.interfaceId);
  const heard = new Set<string>();
  let unwritten: string[] = [];
  let writing: Promise<unknown> | undefined;

  function write(ids: KeptIds): Promise<void> {
    const remember = () => providerAffinity.remember(workspace.id, ids, candidate.provider.id);
    const deadline = startDeadline(clock, clock.nowMs(), writesMaxMs);
    return retryWrite(clock, remember, { deadline }).catch((error: unknown) =>
      log.error({ event: 'keeper_not_remembered', correlation_id: scope.correlationId }, error),
    );
  }

  function writeRest(): Promise<unknown> | undefined {
    const made = unwritten;
    unwritten = [];
    if (made.length > 0) writing = Promise.all([writing, write({ made })]);
    return writing;
  }

  return {
    hear(keptIds = []) {
      if (!isKept) return;
      const made = keptIds.filter((id) => !heard.has(id)).slice(0, keptIdsMax - heard.size);
      for (const id of made) heard.add(id);
      if (made.length === 0) return;
      if (writing !== undefined) {
        unwritten.push(...made);
        return;
      }
      writing = write({ made, referred: request.keptInput.flatMap(({ id }) => (id === undefined ? [] : [id])) });
      // A process may be frozen after the last byte: what is still to be written is waited for.
      scope.deferred.add(async () => {
        await writeRest();
      });
    },
    written: async () => {
      const rest = writeRest();
      if (rest !== undefined) await waitAtMost(clock, answerWaitsMaxMs, rest, () => undefined);
    },
  };
}
