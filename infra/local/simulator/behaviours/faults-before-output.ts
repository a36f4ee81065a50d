// Lists behaviours that fail before any part of an answer was sent.
import {
  type Behaviour,
  type Behaviours,
  numberParameter,
  receivedCredential,
  type SimulatorCall,
  wordParameter,
} from '../call.ts';
import { complete } from '../completion.ts';
import { refuse, streamHead, streamSteps } from '../frames.ts';
import { body, cut, end, head, json, raw, reset, type Steps, silence } from '../step.ts';
import { echo } from './answers.ts';

const statuses = [
  400, 401, 402, 403, 404, 405, 408, 409, 410, 413, 415, 422, 424, 425, 429, 451, 500, 501, 502, 503, 504, 520, 524,
  529,
] as const;

/**
 * `error-STATUS:CODE:SECONDS`, the last two optional and in any order: the code in the body, and a Retry-After header.
 */
const refusing =
  (status: number): Behaviour =>
  (call) => {
    const seconds = call.parameters.find((parameter) => /^\d+$/.test(parameter));
    const headers = seconds === undefined ? {} : { 'retry-after': seconds };
    return refuse(call, status, { code: wordParameter(call), headers });
  };

const html = '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1>nginx</body></html>\n';

/** Quotes the received credential in the message, as careless providers do. */
function leak(call: SimulatorCall): Steps {
  const { status, code } = call.format.wrongCredential;
  const message = `Incorrect API key provided: ${receivedCredential(call.format, call.headers) ?? 'none'}.`;
  return refuse(call, numberParameter(call, 0, status), { code, message });
}

const errorIn200: Behaviour = (call) => {
  const code = wordParameter(call);
  if (!call.request.isStream) return json(200, call.format.error(500, code).body);
  return streamSteps(call, call.format.errorFrames(call, complete(call), code));
};

/** Exchanges that HTTP allows, although no provider should send them. No exchange is an answer to the request. */
const oddExchanges: Behaviours = {
  'switch-protocols': () => [raw('HTTP/1.1 101 Switching Protocols\r\n\r\n'), silence],
  upgrade: () => [
    raw('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
    silence,
  ],
  processing: () => [raw('HTTP/1.1 102 Processing\r\n\r\n'), silence],
  'early-hints': (call) => [raw('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'), ...echo(call)],
  close: () => [cut],
  'half-head': () => [raw('HTTP/1.1 200 OK\r\nContent-Type: appl'), cut],
  'no-http': () => [raw('hello\r\n\r\n'), silence],
};

export const faultsBeforeOutput: Behaviours = {
  ...Object.fromEntries(statuses.map((status) => [`error-${status}`, refusing(status)])),
  'error-html': () => body(502, 'text/html', html),
  'error-empty': () => [head(500, { 'content-length': '0' }), end],
  ...oddExchanges,
  'error-200': errorIn200,
  'error-leak': leak,
  redirect: ({ path }) => [head(307, { location: `/redirected/v1${path}`, 'content-length': '0' }), end],
  reset: () => [reset],
  'reset-after-headers': (call) => [
    call.request.isStream ? streamHead(call) : head(200, { 'content-type': 'application/json' }),
    cut,
  ],
  'refuse-once': (call) => (call.earlierCalls === 0 ? [reset] : echo(call)),
  flaky: (call) => (call.earlierCalls < numberParameter(call, 0, 1) ? refuse(call, 500) : echo(call)),
  'stale-socket': (call) => (call.earlierOnConnection > 0 ? [reset] : echo(call)),
};
