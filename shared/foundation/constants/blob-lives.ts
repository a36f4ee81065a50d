// Lists the lifetimes of blobs by the prefix of their name. The sweeper of a folder and the rules of a bucket are
// derived from this.

/** Lifetimes that an operator may choose for the bodies of calls. */
export const contentKeeps = ['1d', '7d', '30d', '90d', '365d'] as const;
export type ContentKeep = (typeof contentKeeps)[number];

export const daysOf = (keep: ContentKeep): number => Number.parseInt(keep, 10);

/** Prefix of stored results that are too large for an item. */
export const resultPrefix = 'result-';
/** Prefix of the bodies of calls. */
export const contentPrefix = 'content-';
export const contentPrefixOf = (keep: ContentKeep): string => `${contentPrefix}${keep}-`;

/**
 * Lifetime in days. Records that name results live one day; the second day covers clock differences and slow deletion.
 */
export const resultLifeDays = 2;
