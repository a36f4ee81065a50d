/** Begins the names of headers, keys, tables and functions that are the gateway's own. */
export const brand = 'gw';
/** Always available, never in the catalogue. */
export const autoModelId = 'auto';
/** Model ids under this prefix are function aliases or nothing: no catalogue model may take one. */
export const reservedModelPrefix = 'gw/';
export const functionAliasPrefix = 'gw/function/';
/** Function and revision ids. */
export const idPattern = /^[A-Za-z0-9_-]{1,64}$/;
