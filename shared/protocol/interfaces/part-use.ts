// What becomes of a part of a request at a provider of another format.
import type { HubNeedKind } from '../wire/index.ts';

export type PartUse =
  /** Its target has words for it, or the gateway says it in others. */
  | 'carried'
  /** What a provider ran itself: to any other model it is text. */
  | 'as_text'
  /** It stays in a history, and says nothing to another model: left out, and reported. */
  | 'left_out'
  /** No format can be told it: such a candidate is passed over. */
  | { readonly needs: HubNeedKind };

/** It may hold what was said. */
export const unknownPart: PartUse = { needs: 'content_part' };
