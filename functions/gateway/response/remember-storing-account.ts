// Stores which provider keeps an answer, so that a later call that refers to the answer goes to the same provider. The
// write happens before the client gets the end of the answer, because the client may refer to the answer at once.
import { accountOf } from '../../../shared/configuration/catalogue/index.ts';
import { servingApis } from '../../../shared/foundation/constants/index.ts';
import { startDeadline, waitAtMost } from '../../../shared/foundation/time/index.ts';
import type { AnswerDetails } from '../../../shared/protocol/wire/index.ts';
import { payerOf } from '../../../shared/routing/planner/index.ts';
import { retryWrite } from '../../../shared/storage/store/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { ProvidedAnswer } from '../provider-call.ts';
import type { RoutedCall } from '../stages.ts';

/** Maximum time for which a slow store may delay the end of a response. */
const answerWaitsMaxMs = 1_000;
/** Maximum time of the writes, within the time that an adapter allows after an answer. */
const writesMaxMs = 5_000;
/** Maximum number of ids of one answer: a response and its items. */
const stateIdsMax = 256;

interface StoringAccountWriter {
  /** Called with an answer, or with each event of a streamed answer. */
  readonly add: (details: Pick<AnswerDetails, 'storedIds' | 'objectIds'>) => void;
  /**
   * Resolves when the ids are written, usually in one request, or when the answer has waited long enough. Never
   * rejects. Undefined if there are no ids.
   */
  readonly whenWritten: () => Promise<unknown> | undefined;
}

export function openStoringAccountWriter(
  { providerAffinity, clock, log }: GatewayDependencies,
  { identified, effective: { request }, unmadeInput, terms }: RoutedCall,
  { admitted: { candidate }, reachedVia }: ProvidedAnswer,
): StoringAccountWriter {
  const { parsed, workspace } = identified;
  const { scope } = parsed;
  const isNativeFormat = reachedVia.format === servingApis[request.interfaceId].native;
  const isNamed = request.answerIs === 'compared' || (request.answerIs === 'stored' && isNativeFormat);
  const stateOwner = {
    provider: accountOf(candidate.provider),
    model: candidate.model.id,
    withOwnKey: payerOf(terms.byok, candidate) === 'client',
  };
  const receivedIds = new Set<string>();
  let idsToWrite: string[] = [];
  let writing: Promise<unknown> | undefined;

  function write(): Promise<unknown> | undefined {
    const ids = { newIds: idsToWrite, referred: writing === undefined && isNativeFormat ? unmadeInput : [] };
    if (idsToWrite.length === 0) return writing;
    idsToWrite = [];
    const remember = () => providerAffinity.remember(workspace.id, ids, stateOwner);
    const deadline = startDeadline(clock, clock.nowMs(), writesMaxMs);
    const written = retryWrite(clock, remember, { deadline }).catch((error: unknown) =>
      log.error({ event: 'keeper_not_remembered', correlation_id: scope.correlationId }, error),
    );
    writing = Promise.all([writing, written]);
    return writing;
  }

  return {
    add({ storedIds = [], objectIds = [] }) {
      for (const id of [...(isNamed ? storedIds : []), ...(isNativeFormat ? objectIds : [])]) {
        if (receivedIds.has(id) || receivedIds.size === stateIdsMax) continue;
        // The write is awaited, because a process may be frozen after the last byte.
        if (receivedIds.size === 0) scope.deferred.add(async () => void (await write()));
        receivedIds.add(id);
        idsToWrite.push(id);
      }
    },
    whenWritten() {
      const rest = write();
      return rest && waitAtMost(clock, answerWaitsMaxMs, rest, () => undefined);
    },
  };
}
