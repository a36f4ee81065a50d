// Ids of items of answers that the gateway wrote itself. They say so: no provider knows them.

const mark = '_gw_';

export const ownItemId = (prefix: string, answerId: string, index: number): string =>
  `${prefix}${mark}${plainId(answerId)}_${index}`;

export const isOwnItemId = (id: unknown): boolean => typeof id === 'string' && /^[a-z]+_gw_\w+$/.test(id);

export const ownResponseId = (answerId: string): string => `resp_${plainId(answerId)}`;

const plainId = (id: string): string => id.replaceAll(/\W/g, '');
