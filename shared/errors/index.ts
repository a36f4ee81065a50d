export { type ErrorCode, errorCatalogue, errorFamilies, okStatus } from './catalogue.ts';
export { type Envelope, toEnvelope } from './envelope.ts';
export { fail, GatewayError, type RejectionReason, rejectionReasons } from './gateway-error.ts';
