// How long a blob lives, by the beginning of its name. The sweeper of a folder and the rules of a bucket follow from this.

/** How long the bodies of calls may be kept. */
export const contentKeeps = ['1d', '7d', '30d', '90d', '365d'] as const;
export type ContentKeep = (typeof contentKeeps)[number];

export const daysOf = (keep: ContentKeep): number => Number.parseInt(keep, 10);

/** Of stored results that are too large for an item. */
export const resultPrefix = 'result-';
/** Of the bodies of calls. */
export const contentPrefix = 'content-';
export const contentPrefixOf = (keep: ContentKeep): string => `${contentPrefix}${keep}-`;

/** Records that name results are kept a day. The second covers clocks and slow deletion. */
export const resultLifeDays = 2;
