// Reads session, span and trace headers. A malformed header is the client's error, but the answer still needs a trace
// id. So the result has the ids for the answer, and the fault.
import { fail, type GatewayError } from '../../errors/index.ts';
import { headerNames } from '../../foundation/constants/index.ts';
import type { Randomness } from '../../foundation/ids/index.ts';
import type { HeaderValues } from './exchange.ts';

export interface Correlation {
  /** The client's id, else the id in its traceparent, else a new one. */
  readonly traceId: string;
  readonly spanId: string | undefined;
  readonly parentSpanId: string | undefined;
  readonly sessionId: string | undefined;
  /** The client's header, passed on to the provider unchanged. */
  readonly traceparent: string | undefined;
}

interface ReadCorrelation {
  readonly correlation: Correlation;
  /** The error invalid_correlation, thrown once the key is known. */
  readonly fault: GatewayError | undefined;
}

/** Pattern of each header's value, also shown in the API description. */
const idShape = /^[A-Za-z0-9._:-]{1,128}$/;
const sessionShape = /^[\x21-\x7e]{1,256}$/;
/**
 * Matches W3C's traceparent: version, trace id, parent id, flags. All-zero ids and version ff are invalid; versions
 * after 00 may have further fields after the four known ones.
 */
const traceparentShape =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:(?<!^00.{53})-[\x21-\x7e]{0,200})?$/;

export const correlationShapes = { id: idShape, session: sessionShape, traceparent: traceparentShape } as const;

interface CorrelationOptions {
  /** True if a malformed `traceparent` counts as absent. */
  readonly ignoresTraceparent?: boolean;
  /**
   * Header of other clients that names the session if the gateway's header is absent. A malformed header counts as
   * absent.
   */
  readonly foreignSessionId?: string | undefined;
}

export function readCorrelation(
  headers: HeaderValues,
  randomness: Randomness,
  { ignoresTraceparent = false, foreignSessionId }: CorrelationOptions = {},
): ReadCorrelation {
  const faults: string[] = [];
  const read = (name: string, shape: RegExp): string | undefined => {
    const values = headers[name];
    const value = values?.[0];
    if (values === undefined || value === undefined) return undefined;
    const isTwice = values.length > 1;
    if (ignoresTraceparent && name === headerNames.traceparent && (isTwice || !shape.test(value))) return undefined;
    if (isTwice) faults.push(`${name} was sent twice`);
    else if (!shape.test(value)) faults.push(`${name} is malformed`);
    else return value;
    return undefined;
  };

  const sentTraceId = read(headerNames.traceId, idShape);
  const spanId = read(headerNames.spanId, idShape);
  const parentSpanId = read(headerNames.parentSpanId, idShape);
  const session = read(headerNames.sessionId, sessionShape);
  const sessionAlias = read(headerNames.sessionIdAlias, sessionShape);
  const traceparent = read(headerNames.traceparent, traceparentShape);
  const w3cTraceId = traceparent === undefined ? undefined : traceparentShape.exec(traceparent)?.[1];

  if (session !== undefined && sessionAlias !== undefined && session !== sessionAlias) {
    faults.push(`${headerNames.sessionId} and ${headerNames.sessionIdAlias} disagree`);
  }
  if (w3cTraceId !== undefined && sentTraceId !== undefined && w3cTraceId !== sentTraceId.toLowerCase()) {
    faults.push(`${headerNames.traceparent} and ${headerNames.traceId} disagree`);
  }
  if (parentSpanId !== undefined && sentTraceId === undefined && w3cTraceId === undefined) {
    faults.push(`${headerNames.parentSpanId} needs a trace`);
  }
  if (parentSpanId !== undefined && parentSpanId === spanId) {
    faults.push(`${headerNames.parentSpanId} equals ${headerNames.spanId}`);
  }
  const [foreign] = foreignSessionId === undefined ? [] : (headers[foreignSessionId] ?? []);
  const foreignSession = foreign !== undefined && sessionShape.test(foreign) ? foreign : undefined;
  const sessionId = session ?? sessionAlias ?? foreignSession;
  const traceId = sentTraceId ?? w3cTraceId ?? randomness.uuid().replaceAll('-', '');
  return {
    correlation: { traceId, spanId, parentSpanId, sessionId, traceparent },
    fault: faults.length === 0 ? undefined : fail('invalid_correlation', { message: `${faults.join('; ')}.` }),
  };
}
