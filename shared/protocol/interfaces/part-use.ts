// Translates a part of a request for a provider of another format.
import type { HubNeedKind } from '../wire/index.ts';

export type PartUse =
  /** The part's target can express it, or the gateway rewrites it. */
  | 'carried'
  /** A provider runs the tool itself, and any other model gets the part as text. */
  | 'as_text'
  /** The part is stored in a history, and means nothing to another model, so it is dropped and reported. */
  | 'left_out'
  /** No format can express the part, so a candidate that would need a translation is skipped. */
  | { readonly needs: HubNeedKind };

/** Use of an unknown part, which may contain text of the conversation. */
export const unknownPart: PartUse = { needs: 'content_part' };
