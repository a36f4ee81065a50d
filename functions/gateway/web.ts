// The door of a Lambda Web Function: the whole gateway as a plain HTTP server, many requests at once. Lambda names the
// address to bind, waits ten seconds for it, and gives a second between SIGTERM and the end.

import { bundleAdapters, createGatewayComposition } from '../../shared/composition/index.ts';
import { readEnvironment, readVariable } from '../../shared/foundation/environment/index.ts';
import { createNodeServer, guardProcess } from '../../shared/protocol/http/index.ts';
import { createChatGateway } from './routes.ts';

const addressName = 'AWS_LAMBDA_HTTP_ENDPOINT';

/** `host:port`, where the host of an IPv6 address stands in brackets. Throws with the name of the variable. */
const readAddress = (): { host: string; port: number } => {
  const [, host, port] = /^(?:http:\/\/)?\[?(.+?)\]?:(\d{1,5})\/?$/.exec(readVariable(addressName) ?? '') ?? [];
  if (host === undefined || port === undefined) throw new Error(`${addressName} must be host:port`);
  return { host, port: Number(port) };
};

const { host, port } = readAddress();
const environment = readEnvironment();
const composition = createGatewayComposition({ environment, ...bundleAdapters(environment) });
guardProcess(composition.log);

// Lambda binds it to a loopback address and passes the public name on.
const server = createNodeServer(createChatGateway(composition), composition, { anyHost: true });
server.listen(port, host).catch((cause: unknown) => {
  composition.log.error({ event: 'server_failed' }, cause);
  process.exit(1);
});

/** Requests that still run get what is left of the second; their claims end with their leases. */
process.once('SIGTERM', () => {
  void server
    .close()
    .then(() => composition.telemetry?.close())
    .then(() => process.exit(0));
});
