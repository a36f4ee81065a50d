// Starts the provider simulator, which is a real HTTP server with the formats of providers. Any base URL that ends in
// `/v1` is a provider; the path below it selects the format, the model's name the behaviour. The simulator logs the
// calls that it receives.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Randomness, systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { type Clock, systemClock } from '../../../shared/foundation/time/index.ts';
import { type CallLog, createCallLog } from './call-log.ts';
import { pathOf } from './read-request.ts';
import { createScriptedFaults, type ScriptedFaults } from './scripted-faults.ts';
import { answerFault, type ServerState, serveLog, serveRequest } from './serve-request.ts';
import { createStoredResponses } from './stored-responses.ts';

interface SimulatorOptions {
  /** Port to listen on; 0 for any free port. */
  readonly port?: number;
  readonly host?: string;
  /** Milliseconds between two chunks of a stream. Tests set 0. */
  readonly paceMs?: number;
  readonly clock?: Clock;
  readonly randomness?: Randomness;
  /** The only accepted credential, after `Bearer` or in the header that the format has for it. */
  readonly credential?: string;
}

export interface Simulator extends Pick<CallLog, 'calls' | 'until' | 'clear'> {
  /** The base URL of a provider; ends in `/v1`. */
  readonly url: string;
  readonly port: number;
  /** Returns the base URL of one of several providers on this server. */
  readonly urlOf: (provider: string) => string;
  /** Returns the faults that models' names have requested, but that changed no answer. */
  readonly unsentFaults: ScriptedFaults['unsent'];
  /** Closes every connection; resolves when all work has ended. */
  readonly stop: () => Promise<void>;
}

/** Pause that is about a person's reading speed. */
const humanPaceMs = 25;

const logPath = '/simulator/calls';

/** Starts the simulator. Rejects when the port is in use. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { port = 0, host = '127.0.0.1', paceMs = humanPaceMs, clock = systemClock, credential } = options;
  const { randomness = systemRandomness } = options;
  const log = createCallLog();
  const running = new Set<Promise<void>>();
  let isStopping = false;
  const requestsOn = new WeakMap();
  const storedResponses = createStoredResponses();
  const scriptedFaults = createScriptedFaults();
  const known = { clock, randomness, paceMs, credential, log, requestsOn, storedResponses, scriptedFaults };
  const state = { ...known, isStopping: () => isStopping };
  const server = createSimulatorServer(state, running);
  server.listen(port, host);
  await once(server, 'listening');

  async function stop(): Promise<void> {
    isStopping = true;
    log.close();
    if (server.listening) {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    }
    await Promise.all(running);
  }
  const bound = (server.address() as AddressInfo).port;
  const origin = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
  const { calls, until, clear } = log;
  return {
    url: `${origin}/v1`,
    port: bound,
    urlOf: (provider) => `${origin}/${provider}/v1`,
    calls,
    until,
    clear,
    unsentFaults: scriptedFaults.unsent,
    stop,
  };
}

function createSimulatorServer(state: ServerState, running: Set<Promise<void>>): Server {
  const server = createServer((request, response) => {
    // A write to a closed connection ends only its own request.
    response.on('error', () => {});
    const serve = pathOf(request) === logPath ? serveLog : serveRequest;
    const work = serve(state, request, response)
      .catch((fault: unknown) => answerFault(response, fault))
      .finally(() => running.delete(work));
    running.add(work);
  });
  // These are headers that are too large, or a body without an end: Node would answer some of them with 431, and others
  // not at all.
  server.on('clientError', (_cause, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
    else socket.destroy();
  });
  return server;
}
