export { type ErrorCode, errorCatalogue, errorFamilies, okStatus } from './catalogue.ts';
export { type Envelope, type ErrorFormat, readErrorFormat, toEnvelope } from './envelope.ts';
export {
  fail,
  failRejected,
  GatewayError,
  type Rejection,
  type RejectionReason,
  rejectionReasons,
} from './gateway-error.ts';
