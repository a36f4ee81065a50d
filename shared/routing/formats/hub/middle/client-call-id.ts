// Ids of tool calls as a client of another interface gets them: in characters and of a length that every provider takes back, and never
// one that was there before in its conversation. Some servers count their calls anew in each answer.
import { sha256Hex } from '../../../../foundation/ids/index.ts';

/** Shorter ones are counted, not drawn. */
const commonId = /^[\w-]{16,40}$/;
const digestCharacters = 24;

/** `answerId`: of the answer that makes the call. The same for the same call. */
export const clientCallId = (answerId: string, id: string): string =>
  commonId.test(id) ? id : `call_${sha256Hex(`${answerId} ${id}`).slice(0, digestCharacters)}`;
