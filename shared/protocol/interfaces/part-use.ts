// Translation of a part of a request to a provider of another format.
import type { HubNeedKind } from '../wire/index.ts';

export type PartUse =
  /** Its target can express it, or the gateway rewrites it. */
  | 'carried'
  /** Run by a provider itself: text for any other model. */
  | 'as_text'
  /** Kept in a history, and meaningless to another model: dropped and reported. */
  | 'left_out'
  /** No format can express it: such a candidate is skipped. */
  | { readonly needs: HubNeedKind };

/** Unknown parts may contain words of the conversation. */
export const unknownPart: PartUse = { needs: 'content_part' };
