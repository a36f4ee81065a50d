// The credential of a request: after `Bearer`, or in the header that a format has for it.
import type { Format } from './call.ts';

type Headers = Readonly<Record<string, string>>;

/** As received, `Bearer` included. Any provider may be given its key in a header of its own: in tests it is this one. */
export const receivedCredential = ({ keyHeader = 'authorization' }: Format, headers: Headers): string | undefined =>
  headers[keyHeader] ?? headers.authorization ?? headers['x-api-key'];

export const isAccepted = (credential: string, { keyHeader }: Format, headers: Headers): boolean =>
  headers.authorization === `Bearer ${credential}` || (keyHeader !== undefined && headers[keyHeader] === credential);
