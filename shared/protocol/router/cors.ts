// Browsers may call the gateway from anywhere: the API key is the only permission, and it never is a cookie.
import { okStatus } from '../../errors/index.ts';
import type { GatewayResponse } from '../http/index.ts';

/** On every answer, errors included: a browser hides the body of an answer without them. */
export const corsHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': '*',
};

const preflightMaxAgeSeconds = 86_400;

/** With a body, because an empty one has been seen to hang streaming Lambda functions. */
export const preflight = (methods: readonly string[]): GatewayResponse => ({
  status: okStatus,
  headers: {
    'access-control-allow-methods': [...methods, 'OPTIONS'].join(', '),
    // The wildcard does not cover Authorization, so it is named.
    'access-control-allow-headers': 'Authorization, *',
    'access-control-max-age': String(preflightMaxAgeSeconds),
    'content-type': 'application/json',
  },
  body: '{}',
});
