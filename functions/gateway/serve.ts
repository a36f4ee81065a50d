// Serves a call of any interface as a sequence of stages. Every stage passes a value to the next, and fails by throwing
// `fail(code)`; the router turns that into the error envelope. What was reserved is settled after the last byte,
// however the call ends.
import type { GatewayResponse } from '../../shared/protocol/http/index.ts';
import type { ClientInterface } from '../../shared/protocol/interfaces/index.ts';
import type { Endpoint } from '../../shared/protocol/router/index.ts';
import type { Item } from '../../shared/storage/store/index.ts';
import { admit } from './admission/admit.ts';
import { findKey, identify } from './admission/identify.ts';
import type { ExistingResult } from './admission/reservation.ts';
import type { GatewayDependencies } from './dependencies.ts';
import { provide } from './provider/provide.ts';
import { receive } from './receive/receive.ts';
import { respond } from './response/respond.ts';
import { respondExisting } from './response/respond-existing.ts';
import { route, routedChanges } from './routing/route.ts';
import { contentOf, failed, serveAndSettle, watchedBy } from './settlement/settle.ts';
import { recordedAnswer, writeExistingRecord } from './settlement/write-record.ts';
import { noteContent, type RefusedBodies, writeRefusal } from './settlement/write-refusal.ts';
import type { CallResult, IdentifiedCall, ReceivedCall, RoutedCall, ServedCall } from './stages.ts';

/** Serves a call of an interface. `operation` is the action in the path, after the model's name. */
export const serveCall =
  (deps: GatewayDependencies, clientInterface: ClientInterface, operation?: string): Endpoint =>
  async (request, scope) => {
    const call = receive(deps, clientInterface, request, scope, operation);
    const key = findKey(deps, call);
    const refusal: RefusedBodies = {};
    let serve: Serve;
    try {
      serve = await open(deps, call, key, refusal);
    } catch (error) {
      scope.deferred.addUncharged(() => writeRefusal(deps, call, key, { ...refusal, error }));
      throw error;
    }
    return serve();
  };

/** Serves the opened call, which from this point on has a record of its own. */
type Serve = () => Promise<GatewayResponse>;

/** Opens the call. Rejects if it is refused. */
async function open(
  deps: GatewayDependencies,
  receivedCall: ReceivedCall,
  key: Item | Promise<Item>,
  refusal: RefusedBodies,
): Promise<Serve> {
  const { call, admissionTime } = await identify(deps, receivedCall, key);
  if (call.parsed.isFunctionCall) return openFunction(deps, { call, admissionTime, refusal });
  const routed = await route(deps, call, admissionTime);
  noteContent(deps, refusal, routed);
  const admitted = await admit(deps, call, routed, admissionTime, routedChanges);
  if ('existingAnswer' in admitted) return () => serveExisting(deps, call, admitted);
  return () => serveAndSettle(deps, admitted, answerPlain);
}

const answerPlain = (deps: GatewayDependencies, call: ServedCall<RoutedCall>): Promise<CallResult> =>
  provide(deps, call, call.admitted.planned.effective).then(({ run, result }) =>
    result.kind === 'failed' ? failed(run, result.error) : respond(deps, call, run, result),
  );

type Opening = Awaited<ReturnType<typeof identify>> & { readonly refusal: RefusedBodies };

async function openFunction(deps: GatewayDependencies, { call, admissionTime, refusal }: Opening): Promise<Serve> {
  const { openExecution, openedChanges, execute } = await import('./stored-function/index.ts');
  const { clientBody: effective } = call.parsed;
  const opened = await admissionTime.wait(openExecution(deps, { identified: call, effective }));
  noteContent(deps, refusal, opened);
  const admitted = await admit(deps, call, opened, admissionTime, openedChanges(deps));
  if ('existingAnswer' in admitted) return () => serveExisting(deps, call, admitted);
  return () => serveAndSettle(deps, admitted, (deps, servedCall) => execute(deps, servedCall, provide));
}

/** Serves an answer that exists already. */
async function serveExisting(
  deps: GatewayDependencies,
  call: IdentifiedCall,
  { existingAnswer, key = call.key }: ExistingResult,
): Promise<GatewayResponse> {
  const { clientBody, scope } = call.parsed;
  clientBody.bodyMemory.allocation.keep('relayedSent');
  // Only the routed call knows the data policy that applies to it.
  const content =
    existingAnswer.kind === 'cached' ? await contentOf(deps, { planned: existingAnswer.call, key }) : undefined;
  const recorded = recordedAnswer(call, existingAnswer);
  scope.deferred.addUncharged(() => writeExistingRecord(deps, call, { ...recorded, key, content }));
  return watchedBy(content, respondExisting(existingAnswer));
}
