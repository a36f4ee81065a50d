import type { SettingRows } from './setting-rows.ts';

type ListedName<Rows extends SettingRows> = {
  [Name in keyof Rows]: Rows[Name] extends { readonly kind: 'count'; readonly listed: string } ? Name : never;
}[keyof Rows];

/** Returns the counts that the console lists. */
export const listedCounts = <Rows extends SettingRows>(rows: Rows) =>
  Object.entries(rows).flatMap(([name, { listed }]) =>
    listed === undefined ? [] : [{ name: name as ListedName<Rows>, listed }],
  );
