// What routing asks of a request is read from its body on first use: of a long one before, in turns of the event loop.
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import type { ClientRequest } from '../../../shared/protocol/interfaces/index.ts';
import { mayBeTranslated } from '../../../shared/routing/planner/index.ts';
import type { IdentifiedCall } from '../stages.ts';

/** Searched in a few milliseconds. */
const longBodyCharacters = 64 * 1024;

/** Each in a turn of its own. */
export async function readAhead(
  request: ClientRequest,
  call: Pick<IdentifiedCall, 'catalogue' | 'workspace'>,
): Promise<void> {
  if (request.text().text.length <= longBodyCharacters) return;
  request.needs();
  await nextTurn();
  request.size();
  await nextTurn();
  if (!mayBeTranslated(request, call)) return;
  await request.readWholeBody(nextTurn);
  request.hubNeeds();
  await nextTurn();
}
