export { type MemberLimit, memberLimits } from './member-limits.ts';
export { keySettings, type Setting, workspaceSettings } from './setting-rows.ts';
