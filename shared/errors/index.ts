export { type ErrorFormat, googleError, readErrorFormat, toEnvelope, whereToLook } from './envelope.ts';
export { type ErrorCode, errorCatalogue, errorFamilies, okStatus } from './error-table.ts';
export { fail, failRejected, GatewayError, type RejectionReason, rejectionReasons } from './gateway-error.ts';
export { nearestOf, quote, suggest } from './suggest.ts';
