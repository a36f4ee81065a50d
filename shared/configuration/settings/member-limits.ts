import { keySettings, workspaceSettings } from './setting-rows.ts';

type MemberField<Name = keyof typeof workspaceSettings> = Name extends `member_keys.${infer Field}` ? Field : never;
export type MemberLimit = Extract<MemberField, keyof typeof keySettings>;

/** Settings of a key that the workspace limits if members make it. */
export const memberLimits = Object.keys(keySettings).filter((name): name is MemberLimit =>
  Object.hasOwn(workspaceSettings, `member_keys.${name}`),
);
