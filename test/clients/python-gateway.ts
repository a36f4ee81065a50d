// A gateway that reports the number of its requests to a client in another process.
import { createGateway } from '../../functions/gateway/routes.ts';
import type { Gateway } from '../../shared/protocol/http/index.ts';
import { type GatewayServer, serveGateway } from '../support/serve-gateway.ts';
import { startClientGateway } from './client-gateway.ts';

/** The path after the origin. Every answer resets the count. */
const countPath = '/requests';

export async function startCountedGateway() {
  const gateway = await startClientGateway();
  const serve = createGateway(gateway.composition);
  let count = 0;
  const countingGateway: Gateway = async (request, context) => {
    if (request.path !== countPath) {
      count += 1;
      return serve(request, context);
    }
    const body = String(count);
    count = 0;
    return { status: 200, headers: {}, body };
  };
  const server: GatewayServer = await serveGateway(gateway.composition, countingGateway);
  return {
    gateway,
    origin: new URL(server.url).origin,
    async stop() {
      await server.close();
      await gateway.stop();
    },
  };
}
