export { listedCounts } from './listed-counts.ts';
export { type MemberLimit, memberLimits } from './member-limits.ts';
export { keySettings, type Setting, type SettingKind, type SettingRows, workspaceSettings } from './setting-rows.ts';
