// Headers that a provider entry names: the one that carries its credential, and constant ones.
import * as z from 'zod';
import { headerNames } from '../../foundation/constants/index.ts';
import { besideFaults } from './fields.ts';
import { credentialAdvice, looksLikeCredential } from './problems.ts';

/** Headers that the gateway sets itself, or that belong to one connection. */
const ownNames = new Set([
  ...[
    'accept',
    'accept-encoding',
    'content-encoding',
    'content-length',
    'content-type',
    'expect',
    'host',
    'user-agent',
  ],
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['x-amz-content-sha256', 'x-amz-date', 'baggage', 'tracestate', headerNames.traceparent],
]);
const credentialName = /authorization|authenticate|cookie|key|token|secret|credential|password/;
const nameShape = /^[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/;
const valueShape = /^[\x21-\x7e]([\x20-\x7e]{0,1022}[\x21-\x7e])?$/;
const headersMax = 32;

/** Returns undefined when the gateway can send a header of this name (lower case). */
function faultOfName(name: string): string | undefined {
  if (!nameShape.test(name)) return 'is no name of a header';
  return ownNames.has(name) ? 'cannot be set here: the gateway sets it itself' : undefined;
}

/** Name of the header with a credential: any that is not the gateway's. */
export const credentialHeader = z
  .string()
  .transform((written) => written.toLowerCase())
  .superRefine((name, context) => {
    if (looksLikeCredential(name)) {
      context.addIssue({
        code: 'custom',
        message: `must be the name of a header, not the credential itself: write ${credentialAdvice}`,
      });
      return;
    }
    const message = faultOfName(name);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

/** Constant headers. Names are returned in lower case. */
export const constantHeaders = z
  .record(
    z.string(),
    z.string({
      error: (issue) =>
        typeof issue.input === 'number' ? 'must be written in quotes, such as "2023-06-01"' : undefined,
    }),
  )
  .superRefine((written, context) => {
    const seen = new Set<string>();
    for (const [name, value] of Object.entries(written)) {
      const lower = name.toLowerCase();
      const message = seen.has(lower) ? 'is there twice: case does not matter' : faultOfHeader(lower, String(value));
      seen.add(lower);
      if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message });
    }
    if (seen.size > headersMax) context.addIssue({ code: 'custom', message: `must be at most ${headersMax} headers` });
  }, besideFaults)
  .transform((written) =>
    Object.fromEntries(Object.entries(written).map(([name, value]) => [name.toLowerCase(), value])),
  );

function faultOfHeader(name: string, value: string): string | undefined {
  if (credentialName.test(name) || looksLikeCredential(value)) {
    return `must not be a credential: write auth: { header: { name: HEADER, env: NAME } }, the credential itself in the variable NAME of the gateway`;
  }
  if (!valueShape.test(value)) return 'must be 1 to 1024 visible ASCII characters, blanks between them';
  return faultOfName(name);
}
