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
  workspaceLog: ContentLog | null | undefined,
  keyLog: KeyContentLog | null,
): ContentLog | undefined {
  if (workspaceLog == null) return undefined;
  const { keep = workspaceLog.keep, share = workspaceLog.share } = keyLog ?? {};
  return {
    keep: daysOf(keep) < daysOf(workspaceLog.keep) ? keep : workspaceLog.keep,
    share: Math.min(share, workspaceLog.share),
  };
}

/** Returns where a key would store more than its workspace; undefined if it does not. */
export function contentLogFault(
  workspaceLog: ContentLog | null | undefined,
  keyLog: KeyContentLog | null | undefined,
): { readonly member: keyof ContentLog; readonly message: string } | undefined {
  if (workspaceLog == null || keyLog == null) return undefined;
  const { keep, share } = keyLog;
  if (keep !== undefined && daysOf(keep) > daysOf(workspaceLog.keep)) {
    return { member: 'keep', message: `must not be longer than that of the workspace, ${workspaceLog.keep}` };
  }
  if (share !== undefined && share > workspaceLog.share) {
    return { member: 'share', message: `must not be larger than that of the workspace, ${workspaceLog.share}` };
  }
  return undefined;
}
