// Converts a function URL event (payload version 2.0) to a gateway request. The conversion never throws. Missing parts
// are read as empty, and the gateway answers the request like any other.
import { fail } from '../../errors/index.ts';
import { originReadTimeoutSeconds, plainBodyMaxBytes } from '../../foundation/constants/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { canonicalPath, type GatewayRequest, type HeaderValues } from './exchange.ts';

export function toGatewayRequest(event: unknown, clock: Clock): GatewayRequest {
  const requestContext = objectIn(event, 'requestContext');
  const body = textIn(event, 'body') ?? '';
  const encoding = memberOf(event, 'isBase64Encoded') === true ? 'base64' : 'utf8';
  return {
    method: textIn(objectIn(requestContext, 'http'), 'method') ?? '',
    path: canonicalPath(textIn(event, 'rawPath') ?? ''),
    query: textIn(event, 'rawQueryString') ?? '',
    headers: readHeaders(objectIn(event, 'headers')),
    declaredBodyBytes: Buffer.byteLength(body, encoding),
    async readBody({ came } = {}) {
      const bytes = decodeBody(body, encoding);
      await came?.(bytes.length);
      return bytes;
    },
    arrivedAtMs: readArrival(memberOf(requestContext, 'timeEpoch'), clock),
  };
}

/** Reads one value per header, because Lambda has joined repeated headers with a comma, which cannot be undone. */
function readHeaders(headers: object | undefined): HeaderValues {
  const values: Record<string, string[]> = Object.create(null);
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (typeof value !== 'string') continue;
    const lowerCaseName = name.toLowerCase();
    values[lowerCaseName] = [...(values[lowerCaseName] ?? []), value];
  }
  return values;
}

/** Message that also applies to a form, which may be longer on other servers. */
const tooLarge = `The request body is too large: at most ${plainBodyMaxBytes / 1024 / 1024} MiB on Lambda.`;

function decodeBody(text: string, encoding: 'base64' | 'utf8'): Buffer {
  // The memory is bounded although the text is decoded before it is counted, because an event has 6 MB at most.
  const bytes = Buffer.from(text, encoding);
  if (bytes.length > plainBodyMaxBytes) throw fail('request_too_large', { message: tooLarge });
  return bytes;
}

/**
 * Returns the time at which the request reached AWS, unless that time is impossible, as in an event that was saved to a
 * file, whose client has left long ago.
 */
function readArrival(timeEpoch: unknown, clock: Clock): number {
  const nowMs = clock.nowMs();
  if (typeof timeEpoch !== 'number') return nowMs;
  const ageMs = nowMs - timeEpoch;
  return ageMs >= 0 && ageMs <= originReadTimeoutSeconds * 1000 ? timeEpoch : nowMs;
}

const memberOf = (holder: unknown, name: string): unknown =>
  typeof holder === 'object' && holder !== null ? (holder as Record<string, unknown>)[name] : undefined;

const objectIn = (holder: unknown, name: string): object | undefined => {
  const member = memberOf(holder, name);
  return typeof member === 'object' && member !== null ? member : undefined;
};

const textIn = (holder: unknown, name: string): string | undefined => {
  const member = memberOf(holder, name);
  return typeof member === 'string' ? member : undefined;
};
