// Reads the options of `npm start -- …`.
import { parseArgs } from 'node:util';
import { nearestOf } from '../../shared/errors/index.ts';
import { dataVariable, isStreamBudget, programs, streamBudget } from '../../shared/foundation/constants/index.ts';
import { readSignIn, type SignInSettings } from '../../shared/foundation/environment/index.ts';
import { demoTraffic } from './demo/demo-traffic.ts';
import { hostDefault } from './listen-address.ts';
import type { TlsPaths } from './tls-files.ts';

export interface LocalOptions {
  readonly port: number;
  /** The address that the server listens on. */
  readonly host: string;
  /** The files with which the server supports TLS; undefined for a server without TLS. */
  readonly tls?: TlsPaths | undefined;
  /** A port that serves only the metrics, without a key. */
  readonly metricsPort?: number | undefined;
  /** The address of that port. Default: this machine alone. */
  readonly metricsHost?: string | undefined;
  /** Path of a gateway file; undefined for the contents of the store, or the demo. */
  readonly config: string | undefined;
  /** Whether all of that file is applied, and not only the changes since it was applied last. */
  readonly reapply?: boolean;
  /** Folder that stores the tables between runs; undefined for tables in memory. */
  readonly data: string | undefined;
  /** Whether acknowledged writes survive a power failure too. */
  readonly durable?: boolean;
  /** Number of processes that share the port and the store. Default: 1. */
  readonly processes?: number;
  /** A DynamoDB-compatible server that stores the tables. */
  readonly dynamodb: string | undefined;
  /** Limit of a stream whose first output came in time; undefined for the default. */
  readonly streamBudgetSeconds?: number | undefined;
  /** Whether the demo makes calls of its own. */
  readonly demoTraffic?: boolean;
  /** Identity provider with which people sign in to the console; undefined when only operator keys open it. */
  readonly signIn?: SignInSettings | undefined;
  /**
   * A line per request for people on standard error, JSON lines on standard output as a deployed stage writes them, or
   * none.
   */
  readonly log: 'text' | 'json' | 'off';
}

const portDefault = 8787;
const portMax = 65_535;

export const usage = `usage: ${programs.start} [options]

Runs the gateway on this machine. Without --config it serves what the store holds, and a demo on simulated providers
where the store is empty.

  --port N          port to listen on (default ${portDefault}; 0 takes a free one)
  --host ADDR       address to listen on (default ${hostDefault}: this machine alone)
  --tls CERT,KEY    listen with TLS: files of a certificate (with those of its authorities) and of its key, in PEM form
  --metrics-port N  serve GET /metrics on this port too, without a key and nothing else
  --metrics-host ADDR
                    address of that port (default ${hostDefault}: this machine alone)
  --config FILE     apply what this gateway file changed since the last start, before this one
  --reapply         with --config: apply the whole file, and undo what operators changed of it
  --data DIR        keep the data in this folder (default: that of the variable GW_DATA, else in memory)
  --durable         with --data: what was answered survives a loss of power too; each write then waits for the disk
  --processes N     N processes share the port and the store, at most one for each processor (default 1)
  --dynamodb URL    use this DynamoDB server, which several gateways may share
  --stream-budget N seconds that a stream, an image or sound may take (default ${streamBudget.defaultSeconds}, at most ${streamBudget.maxSeconds})
  --demo-traffic    the demo makes calls of its own, at most ${demoTraffic.callsMax}, so that the console has something to show
  --oidc-issuer URL, --oidc-client ID
                     people sign in to the console with this identity provider (OpenID Connect); what they may do stands in
                     \`access\` of the gateway file
  --oidc-groups-claim NAME
                     the claim of their tokens that lists groups (default groups)
  --log text|json|off
                     a readable line per request on standard error (default), the JSON lines of a deployed stage on
                     standard output (what a start says is then on standard error), or nothing
  --help            print this`;

const isLog = (text: string): text is LocalOptions['log'] => ['text', 'json', 'off'].includes(text);

const known = {
  port: { type: 'string' },
  host: { type: 'string' },
  tls: { type: 'string' },
  'metrics-port': { type: 'string' },
  'metrics-host': { type: 'string' },
  config: { type: 'string' },
  reapply: { type: 'boolean' },
  data: { type: 'string' },
  durable: { type: 'boolean' },
  processes: { type: 'string' },
  dynamodb: { type: 'string' },
  'stream-budget': { type: 'string' },
  'demo-traffic': { type: 'boolean' },
  'oidc-issuer': { type: 'string' },
  'oidc-client': { type: 'string' },
  'oidc-groups-claim': { type: 'string' },
  log: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

function parseOptions(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: known }).values;
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    const [, name] = /^Unknown option '--([\w-]{1,40})'/.exec(message) ?? [];
    const suggestion = name && nearestOf(name, Object.keys(known));
    if (suggestion === undefined) throw error;
    throw Object.assign(new Error(`there is no option --${name}; did you mean --${suggestion}?`), { code });
  }
}

function tlsOf(text: string | undefined): TlsPaths | undefined {
  if (text === undefined) return undefined;
  const [certificate = '', key = '', ...more] = text.split(',');
  if (certificate === '' || key === '' || more.length > 0) {
    throw new Error('--tls takes two files, as in certificate.pem,key.pem');
  }
  return { certificate, key };
}

function portOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (text === '' || !Number.isInteger(port) || port < 0 || port > portMax) {
    throw new Error(`--${name} takes 0 to ${portMax}`);
  }
  return port;
}

/** Reads the options. Throws an Error with one line for the terminal. */
export function readOptions(
  args: readonly string[],
  variables: Readonly<Record<string, string | undefined>> = {},
): LocalOptions | 'help' {
  const values = parseOptions(args);
  if (values.help === true) return 'help';
  const port = portOf('port', values.port) ?? portDefault;
  const metricsPort = portOf('metrics-port', values['metrics-port']);
  const metricsHost = values['metrics-host'];
  if (values.host === '') throw new Error('--host takes an address, as in 0.0.0.0');
  if (metricsHost === '') throw new Error('--metrics-host takes an address, as in 0.0.0.0');
  if (metricsHost !== undefined && metricsPort === undefined) {
    throw new Error('--metrics-host is the address of a port: use it with --metrics-port N');
  }
  if (values.dynamodb !== undefined && !/^https?:\/\/[^/]+\/?$/.test(values.dynamodb)) {
    throw new Error('--dynamodb takes the URL of a server, as in http://127.0.0.1:8000');
  }
  if (values.dynamodb !== undefined && values.data !== undefined) {
    throw new Error('--data keeps the tables in a folder, --dynamodb on a server: use one of them');
  }
  const data = values.data ?? (values.dynamodb === undefined ? variables[dataVariable] || undefined : undefined);
  const durable = values.durable === true;
  if (durable && data === undefined) {
    throw new Error('--durable is for data that is kept: use it with --data DIR');
  }
  const reapply = values.reapply === true;
  if (reapply && values.config === undefined) {
    throw new Error('--reapply applies a whole gateway file: use it with --config FILE');
  }
  const processes = Number(values.processes ?? 1);
  if (values.processes === '' || !Number.isSafeInteger(processes) || processes < 1) {
    throw new Error('--processes takes a number from 1 on');
  }
  const streamBudgetSeconds = values['stream-budget'] === undefined ? undefined : Number(values['stream-budget']);
  if (streamBudgetSeconds !== undefined && !isStreamBudget(streamBudgetSeconds)) {
    throw new Error(`--stream-budget takes ${streamBudget.minSeconds} to ${streamBudget.maxSeconds} seconds`);
  }
  const tls = tlsOf(values.tls);
  const isDemoTraffic = values['demo-traffic'] === true;
  if (isDemoTraffic && tls !== undefined) {
    throw new Error('--demo-traffic calls in clear, and trusts no certificate: use it without --tls');
  }
  if (isDemoTraffic && values.config !== undefined) {
    throw new Error('--demo-traffic is for the demo, which a gateway file replaces: use it without --config');
  }
  if (values.log !== undefined && !isLog(values.log)) {
    throw new Error('--log takes text, json or off');
  }
  const signIn = readSignIn(
    {
      issuer: values['oidc-issuer'],
      clientId: values['oidc-client'],
      groupsClaim: values['oidc-groups-claim'],
    },
    { issuer: '--oidc-issuer', clientId: '--oidc-client' },
  );
  const { config, dynamodb, host = hostDefault, log = 'text' } = values;
  return {
    port,
    host,
    tls,
    metricsPort,
    metricsHost,
    config,
    reapply,
    data,
    durable,
    processes,
    dynamodb,
    streamBudgetSeconds,
    demoTraffic: isDemoTraffic,
    signIn,
    log,
  };
}
