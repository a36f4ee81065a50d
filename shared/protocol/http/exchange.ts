// What the core sees of the outside: it knows neither Lambda nor HTTP servers (contract 12).

/** Header values as sent, by lower-case name. Two values: the header was sent twice. */
export type HeaderValues = Readonly<Record<string, readonly string[]>>;

/** The bytes of a body, or only the fact that it is over the hard size and was not read to its end. */
export type RequestBody = { readonly kind: 'bytes'; readonly bytes: Buffer } | { readonly kind: 'too_large' };

export interface GatewayRequest {
  readonly method: string;
  /** Path without query string. */
  readonly path: string;
  readonly headers: HeaderValues;
  readonly body: RequestBody;
  /** Epoch milliseconds at which the request arrived: the budget runs from here. */
  readonly arrivedAtMs: number;
}

export interface RequestContext {
  /** Aborts when the client hangs up, where the server can know that (Lambda cannot). */
  readonly clientGone: AbortSignal;
}

/**
 * An answer. `body` never throws: a failure after the first byte is an error line inside it.
 * The server calls `finish` exactly once, after the last byte or after the client left, and awaits it before it lets
 * the process sleep: settlement and records happen there, off the client's path.
 */
export interface GatewayResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | AsyncIterable<string>;
  readonly finish?: () => Promise<void>;
}

/** The core: one request in, one answer out. Never rejects. */
export type Gateway = (request: GatewayRequest, context: RequestContext) => Promise<GatewayResponse>;
