// A server that is called by https, and a company's proxy, which alone knows the hosts in its network.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, request } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { createFaultScript, type FaultScript } from './fault-script.ts';

/** A certificate for `provider.example` and `proxy.example`, valid until 2120, that only tests trust. */
const certificate = `-----BEGIN CERTIFICATE-----
MIIBhDCCASqgAwIBAgIBATAKBggqhkjOPQQDAjASMRAwDgYDVQQDDAdndyB0ZXN0
MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjASMRAwDgYDVQQDDAdn
dyB0ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAESg81/6WkqexZ5+BEmXf1
5RvZ639ifcsixFr2Yk8PMUyx1ocAF6rmagNl1PBOV6E3Y2Wo9NACCajEgqqA8Hgc
dqNvMG0wDwYDVR0TAQH/BAUwAwEB/zA7BgNVHREENDAyghBwcm92aWRlci5leGFt
cGxlgg1wcm94eS5leGFtcGxlgglsb2NhbGhvc3SHBH8AAAEwHQYDVR0OBBYEFHCn
gO26oKo0zLaI8CxDMZUvxBQeMAoGCCqGSM49BAMCA0gAMEUCIQCovZdg6SYNzday
jraUiiynU+8QXXxHfxQJGTRDGw8EKQIgNeSdRlAnOjp7g5VcdXXgat+Pz/g7o3qw
2itTfYc8lhY=
-----END CERTIFICATE-----`;
const privateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgZVAmHi1JUF7bUZZB
tv/bor836YeQARtA4bEryUetZ8yhRANCAARKDzX/paSp7Fnn4ESZd/XlG9nrf2J9
yyLEWvZiTw8xTLHWhwAXquZqA2XU8E5XoTdjZaj00AIJqMSCqoDweBx2
-----END PRIVATE KEY-----`;

/** The certificate with its key, for a server on this machine. */
export const testCertificate = { cert: certificate, key: privateKey } as const;

/** Trusts the certificate until the returned function is called. */
export function trustTestCertificate(): () => void {
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, certificate]);
  return () => setDefaultCACertificates(trusted);
}

interface Served {
  readonly port: number;
  stop(): Promise<void>;
}

export const startTlsServer = (answer: RequestListener): Promise<Served> =>
  serve(createTlsServer({ key: privateKey, cert: certificate }, answer));

export interface ForwardProxy extends Served {
  /** Requests in the form `CONNECT provider.example:443`, `POST http://provider.example/v1/…`. */
  readonly requests: string[];
  readonly authorizations: (string | undefined)[];
  /** Server names that clients sent to the proxy before it showed its certificate. */
  readonly serverNames: (string | false | null)[];
  /**
   * Makes the proxy answer with this status and connect to no host; undefined makes it serve again. The stop of the proxy
   * rejects if it has refused nobody.
   */
  refuseWith(status: number | undefined): void;
}

/** Starts a proxy. `portOf` returns the port of a host that it knows; others do not exist. */
export async function startForwardProxy(
  portOf: Readonly<Record<string, number>>,
  isEncrypted = false,
): Promise<ForwardProxy> {
  const script = createFaultScript('a forward proxy');
  const requests: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const serverNames: ForwardProxy['serverNames'] = [];
  let refusal: number | undefined;
  const note = ({ method, url, headers }: IncomingMessage): string => {
    script.markSent(String(refusal));
    requests.push(`${method} ${url}`);
    authorizations.push(headers['proxy-authorization']);
    return String(url);
  };
  const forward: RequestListener = (incoming, outgoing) => {
    const { hostname, pathname, search } = new URL(note(incoming));
    const port = portOf[hostname];
    if (refusal !== undefined || port === undefined) return void outgoing.writeHead(refusal ?? 502).end('proxy page');
    const { method, headers } = incoming;
    const path = pathname + search;
    const onward = request({ hostname: '127.0.0.1', port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  };
  const server = isEncrypted ? createTlsServer({ key: privateKey, cert: certificate }, forward) : createServer(forward);
  server.on('secureConnection', ({ servername }: TLSSocket) => serverNames.push(servername));
  server.on('connect', (incoming: IncomingMessage, client: Socket) => {
    const [hostname = ''] = note(incoming).split(':');
    const port = portOf[hostname];
    client.on('error', () => {});
    if (refusal !== undefined || port === undefined)
      return void client.end(`HTTP/1.1 ${refusal ?? 502} No\r\n\r\nproxy page`);
    const onward = connect(port, '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    onward.on('error', () => client.destroy());
    client.on('close', () => onward.destroy());
    onward.on('close', () => client.destroy());
    client.pipe(onward).pipe(client);
  });
  return {
    ...(await serve(server, script)),
    requests,
    authorizations,
    serverNames,
    refuseWith(status) {
      if (status !== undefined) script.script(String(status));
      refusal = status;
    },
  };
}

async function serve(server: Server, script?: FaultScript): Promise<Served> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
      script?.check();
    },
  };
}
