// The sequence of a call, of any interface. Every stage passes a bigger value to the next and fails by throwing
// `fail(code)`; the router turns that into the error envelope. What was reserved is settled after the last byte,
// however the call ends.
import type { GatewayResponse } from '../../shared/protocol/http/index.ts';
import type { ClientInterface } from '../../shared/protocol/interfaces/index.ts';
import type { Endpoint } from '../../shared/protocol/router/index.ts';
import type { Item } from '../../shared/storage/store/index.ts';
import { type Admitting, admit } from './admission/admit.ts';
import { findKey, identify } from './admission/identify.ts';
import type { FoundReady } from './admission/reservation.ts';
import type { GatewayDependencies } from './dependencies.ts';
import { provide } from './provider/provide.ts';
import { receive } from './receive/receive.ts';
import { respond } from './response/respond.ts';
import { respondReady } from './response/respond-ready.ts';
import { route, withMaskedRequest } from './routing/route.ts';
import { contentOf, failed, serveAndSettle, watchedBy } from './settlement/settle.ts';
import { writeReadyRecord } from './settlement/write-record.ts';
import { noteContent, type RefusedBodies, writeRefusal } from './settlement/write-refusal.ts';
import type { AdmittedPlain, CallResult, IdentifiedCall, OpenedCall, ReceivedCall } from './stages.ts';

/** Serves a call of an interface. `operation` is the action in the path, behind the model's name. */
export const serveCall =
  (deps: GatewayDependencies, clientInterface: ClientInterface, operation?: string): Endpoint =>
  async (request, scope) => {
    const received = receive(deps, clientInterface, request, scope, operation);
    const key = findKey(deps, received);
    const refusal: RefusedBodies = {};
    const serve = await open(deps, received, key, refusal).catch((error: unknown) => {
      scope.deferred.addUncharged(() => writeRefusal(deps, received, key, { ...refusal, error }));
      throw error;
    });
    return serve();
  };

/** Serves the opened call, which from here on has a record of its own. */
type Serve = () => Promise<GatewayResponse>;

/** Opens the call. Rejects where it is refused. */
async function open(
  deps: GatewayDependencies,
  received: ReceivedCall,
  key: Item | Promise<Item>,
  refusal: RefusedBodies,
): Promise<Serve> {
  const { call, admissionTime } = await identify(deps, received, key);
  if (call.asksFunction) return openFunction(deps, { call, admissionTime, refusal });
  const routed = await route(deps, call, admissionTime);
  noteContent(deps, refusal, call, routed);
  const admitted = await admit(deps, call, routed, { admissionTime, withRequest: withMaskedRequest });
  if ('ready' in admitted) return () => serveReady(deps, call, admitted);
  return () => serveAndSettle(deps, admitted, answerPlain, call.request);
}

async function answerPlain(deps: GatewayDependencies, call: AdmittedPlain): Promise<CallResult> {
  const { result, ...run } = await provide(deps, call);
  if (result.kind === 'failed') return failed(run, result.error);
  return respond(deps, call, run, result);
}

type Opening = Awaited<ReturnType<typeof identify>> & { readonly refusal: RefusedBodies };

async function openFunction(deps: GatewayDependencies, { call, admissionTime, refusal }: Opening): Promise<Serve> {
  const { openExecution, execute } = await import('./stored-function/index.ts');
  const opened = await admissionTime.wait(openExecution(deps, call));
  noteContent(deps, refusal, call, opened);
  const withRequest: Admitting<OpenedCall>['withRequest'] = (former, masked) =>
    openExecution(deps, { ...former, ...masked });
  const admitted = await admit(deps, call, opened, { admissionTime, withRequest });
  if ('ready' in admitted) return () => serveReady(deps, call, admitted);
  const run = (deps: GatewayDependencies, call: typeof admitted) => execute(deps, call, provide);
  return () => serveAndSettle(deps, admitted, run, call.request);
}

/** Serves an answer that exists already. */
async function serveReady(
  deps: GatewayDependencies,
  call: IdentifiedCall,
  { ready, key = call.key }: FoundReady,
): Promise<GatewayResponse> {
  // Only the routed call knows the data policy that applies to it.
  const recorded = { ...(ready.kind === 'cached' ? ready.call : call), key };
  call.bodyMemory.allocation.keep('relayedSent');
  const content = ready.kind === 'cached' ? await contentOf(deps, recorded, call.request) : undefined;
  call.scope.deferred.addUncharged(() => writeReadyRecord(deps, recorded, ready, content));
  return watchedBy(content, respondReady(ready));
}
