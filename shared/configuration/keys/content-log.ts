// Decides how much of its calls' bodies a workspace stores, and how a key reduces this share.
import { type ContentKeep, daysOf } from '../../foundation/constants/index.ts';

interface ContentLog {
  readonly keep: ContentKeep;
  /** Share of the calls whose bodies are stored, from 0 to 1. */
  readonly share: number;
}

/** Content log of a key. Absent fields are as in its workspace. */
type KeyContentLog = { readonly [Name in keyof ContentLog]?: ContentLog[Name] | undefined };

/** Returns undefined if nothing is stored. */
export function effectiveContentLog(
  ofWorkspace: ContentLog | null | undefined,
  ofKey: KeyContentLog | null,
): ContentLog | undefined {
  if (ofWorkspace == null) return undefined;
  const { keep = ofWorkspace.keep, share = ofWorkspace.share } = ofKey ?? {};
  return {
    keep: daysOf(keep) < daysOf(ofWorkspace.keep) ? keep : ofWorkspace.keep,
    share: Math.min(share, ofWorkspace.share),
  };
}

/** Returns where a key would store more than its workspace; undefined if it does not. */
export function contentLogFault(
  ofWorkspace: ContentLog | null | undefined,
  ofKey: KeyContentLog | null | undefined,
): { readonly member: keyof ContentLog; readonly message: string } | undefined {
  if (ofWorkspace == null || ofKey == null) return undefined;
  const { keep, share } = ofKey;
  if (keep !== undefined && daysOf(keep) > daysOf(ofWorkspace.keep)) {
    return { member: 'keep', message: `must not be longer than that of the workspace, ${ofWorkspace.keep}` };
  }
  if (share !== undefined && share > ofWorkspace.share) {
    return { member: 'share', message: `must not be larger than that of the workspace, ${ofWorkspace.share}` };
  }
  return undefined;
}
