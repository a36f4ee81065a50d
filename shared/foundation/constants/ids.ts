/** Prefix of the names of headers, keys, tables and functions that belong to the gateway. */
export const brand = 'gw';
/** Model id that is always available and never in the catalogue. */
export const autoModelId = 'auto';
/** Prefix of function aliases, with which no id of a catalogue model may begin. */
export const reservedModelPrefix = 'gw/';
export const functionAliasPrefix = 'gw/function/';
/** Pattern of function and revision ids. */
export const idPattern = /^[A-Za-z0-9_-]{1,64}$/;
