// Describes the error of a connection as one word.
import type { ConnectionFaultWord } from '../constants/index.ts';
import { ProxyFailed } from './tunnel.ts';

/**
 * Codes of the errors that this folder makes, for a connection that takes too long, and for a connection that closes
 * without an answer.
 */
export const connectTimeoutCode = 'GW_CONNECT_TIMEOUT';
export const closedCode = 'GW_CLOSED';

export const isConnectTimeout = (error: unknown): error is Error =>
  error instanceof Error && (error as NodeJS.ErrnoException).code === connectTimeoutCode;

const words: Readonly<Record<string, ConnectionFaultWord>> = {
  ENOTFOUND: 'dns_not_found',
  EAI_AGAIN: 'dns_unavailable',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ETIMEDOUT: 'connect_timeout',
  [connectTimeoutCode]: 'connect_timeout',
  [closedCode]: 'closed',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls_self_signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls_unknown_authority',
  UNABLE_TO_GET_ISSUER_CERT: 'tls_unknown_authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls_unknown_authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls_unknown_authority',
  CERT_HAS_EXPIRED: 'tls_expired',
  CERT_NOT_YET_VALID: 'tls_not_yet_valid',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls_wrong_name',
  HOSTNAME_MISMATCH: 'tls_wrong_name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'not_tls',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'not_tls',
  ERR_SSL_RECORD_LAYER_FAILURE: 'not_tls',
};

/** Matches error codes of Node's HTTP parser. */
const parserCode = /^HPE_/;
/**
 * Matches messages about a handshake in which the other side does not speak TLS: Node has one code for all faults of
 * TLS.
 */
const noHandshake = /wrong version number|packet length too long|http request/;
const ownWordMax = 40;

/**
 * Returns undefined for an error without a code. Node has one code for connections that were closed without an answer
 * and for connections that were reset.
 */
export function connectionFaultOf(error: unknown): string | undefined {
  if (error instanceof ProxyFailed) return error.code;
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  if (typeof code !== 'string') return undefined;
  if (code === 'ECONNRESET' && message === 'socket hang up') return 'closed';
  if (parserCode.test(code)) return 'not_http';
  if (code === 'EPROTO' && noHandshake.test(String(message))) return 'not_tls';
  return (
    words[code] ??
    code
      .toLowerCase()
      .replace(/[^a-z0-9]/g, '_')
      .slice(0, ownWordMax)
  );
}
