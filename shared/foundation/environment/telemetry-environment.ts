// Reads the destination of traces from the standard variables of OpenTelemetry, which a stage also sets. A malformed
// value is reported, has no effect and never stops a start, because the variable may be meant for another program. The
// report does not repeat the value, which may be a secret.
import { brand, environmentNames } from '../constants/index.ts';
import type { Variables } from './aws-environment.ts';

export interface TelemetryEnvironment {
  readonly endpoint: string;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Name or ARN of a secret with further headers, in the form of `OTEL_EXPORTER_OTLP_HEADERS`. */
  readonly headersSecret: string | undefined;
  /** Region of CloudWatch's endpoint. If set, exports are signed with the credentials of the process. */
  readonly cloudwatchRegion: string | undefined;
  /** Attributes that describe the sender. */
  readonly resource: Readonly<Record<string, string>>;
  /** Share of the traces that is sampled if their client does not decide. */
  readonly sampleRatio: number;
  /** Set if stored bodies of calls are sent with their spans. */
  readonly capturesContent?: true;
}

export interface ReadTelemetry {
  /** Undefined when traces are off. */
  readonly telemetry: TelemetryEnvironment | undefined;
  /** Variables without effect, a line each. */
  readonly notes: readonly string[];
}

const tracesPath = '/v1/traces';
const protocol = 'http/json';
const captureName = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT';
const sampler = 'parentbased_traceidratio';
const cloudwatchHost = /^xray\.([a-z]{2,4}(?:-[a-z]+)+-\d{1,2})\.amazonaws\.com(?:\.cn)?$/;
const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const headerValue = /^[\x20-\x7e]*$/;
/**
 * Headers of the connection and the framing, which the sender sets itself, because a request with another value would
 * not arrive.
 */
const senderHeader =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|host|content-(length|type|encoding))$/i;

export function readTelemetryEnvironment(variables: Variables = process.env): ReadTelemetry {
  const notes: string[] = [];
  const nonEmpty = (name: string) => (variables[name] === '' ? undefined : variables[name]);
  const first = (...names: string[]) => names.find((name) => nonEmpty(name) !== undefined) ?? '';
  const endpoint = readEndpoint(nonEmpty, notes);
  const isOff = nonEmpty('OTEL_SDK_DISABLED') === 'true' || nonEmpty('OTEL_TRACES_EXPORTER') === 'none';
  if (endpoint === undefined || isOff) return { telemetry: undefined, notes };
  const protocolName = first('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL');
  if ((nonEmpty(protocolName) ?? protocol) !== protocol) {
    notes.push(`${protocolName} has no effect: traces are sent as ${protocol}`);
  }
  if ((nonEmpty('OTEL_TRACES_SAMPLER') ?? sampler) !== sampler) {
    notes.push(`OTEL_TRACES_SAMPLER has no effect: the sampler is ${sampler}`);
  }
  const listOf = (name: string) => readList(name, nonEmpty(name), notes);
  const headersName = first('OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'OTEL_EXPORTER_OTLP_HEADERS');
  const telemetry = {
    endpoint: endpoint.href,
    headers: usableHeaders(headersName, listOf(headersName), notes),
    headersSecret: nonEmpty(environmentNames.telemetryHeadersSecret),
    cloudwatchRegion: cloudwatchHost.exec(endpoint.hostname)?.[1],
    resource: {
      'service.name': brand,
      ...listOf('OTEL_RESOURCE_ATTRIBUTES'),
      ...(nonEmpty('OTEL_SERVICE_NAME') === undefined
        ? {}
        : { 'service.name': nonEmpty('OTEL_SERVICE_NAME') ?? brand }),
    },
    sampleRatio: readRatio(nonEmpty('OTEL_TRACES_SAMPLER_ARG'), notes),
    ...(nonEmpty(captureName)?.toLowerCase() === 'true' ? ({ capturesContent: true } as const) : {}),
  };
  return { telemetry, notes };
}

type Named = (name: string) => string | undefined;

/** Returns the address for traces unchanged, or the common address with their path appended. */
function readEndpoint(named: Named, notes: string[]): URL | undefined {
  const traces = named('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  const common = named('OTEL_EXPORTER_OTLP_ENDPOINT');
  const text = traces ?? (common && `${common.replace(/\/+$/, '')}${tracesPath}`);
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  const name = `OTEL_EXPORTER_OTLP${traces === undefined ? '' : '_TRACES'}_ENDPOINT`;
  notes.push(`${name} is no URL of http or https: no traces are sent`);
  return undefined;
}

/** Parses `name=value,name=value` with percent-encoded values; returns undefined when malformed. */
export function readPairs(text: string): Record<string, string> | undefined {
  try {
    const pairs = text
      .split(',')
      .filter((pair) => pair.trim() !== '')
      .map((pair) => {
        const end = pair.indexOf('=');
        if (end <= 0) throw new URIError();
        return [pair.slice(0, end).trim(), decodeURIComponent(pair.slice(end + 1).trim())] as const;
      });
    return Object.fromEntries(pairs);
  } catch {
    return undefined;
  }
}

function readList(name: string, text: string | undefined, notes: string[]): Record<string, string> {
  const pairs = text === undefined ? {} : readPairs(text);
  if (pairs === undefined) notes.push(`${name} has no effect: it must be name=value, with commas between several`);
  return pairs ?? {};
}

/** Returns the headers that a request can carry, by lower-case name. */
export const toHeaders = (pairs: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(pairs)
      .filter(([name, value]) => headerName.test(name) && !senderHeader.test(name) && headerValue.test(value))
      .map(([name, value]) => [name.toLowerCase(), value]),
  );

function usableHeaders(name: string, pairs: Readonly<Record<string, string>>, notes: string[]): Record<string, string> {
  const headers = toHeaders(pairs);
  const unusable = Object.keys(pairs).length - Object.keys(headers).length;
  if (unusable > 0) notes.push(`${name}: ${unusable} of its headers fit no request and are left out`);
  return headers;
}

function readRatio(text: string | undefined, notes: string[]): number {
  const ratio = text === undefined ? 1 : Number(text);
  if (ratio >= 0 && ratio <= 1) return ratio;
  notes.push('OTEL_TRACES_SAMPLER_ARG has no effect: it must be a number from 0 to 1');
  return 1;
}
