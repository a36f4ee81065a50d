/** Prefix of the names of headers, keys, tables and functions that belong to the gateway. */
export const brand = 'gw';
/** Model id that is always available and never in the catalogue. */
export const autoModelId = 'auto';
/** Prefix of function aliases: no catalogue model may have an id that begins with it. */
export const reservedModelPrefix = 'gw/';
export const functionAliasPrefix = 'gw/function/';
/** Pattern of function and revision ids. */
export const idPattern = /^[A-Za-z0-9_-]{1,64}$/;
