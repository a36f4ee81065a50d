// A gateway behind a real HTTP server that can report when every request has been settled.
import { join } from 'node:path';
import { pageFolder } from '../../functions/operator/console/page-folder.ts';
import { createWholeGateway } from '../../infra/container/routes.ts';
import { builtFiles } from '../../infra/local/built-files.ts';
import type { Composition } from '../../shared/composition/index.ts';
import { headerNames } from '../../shared/foundation/constants/index.ts';
import type { SignInSettings } from '../../shared/foundation/environment/index.ts';
import { createNodeServer, type Gateway } from '../../shared/protocol/http/index.ts';

/** A page for tests, which only check how its files are served. */
const consolePage = join(import.meta.dirname, 'console-page');

export interface GatewayServer {
  /** Base URL; ends in /v1. */
  readonly url: string;
  /** Resolves when no request is in progress any more, settlement included. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** Returns every route behind one address. `signIn` names the identity provider. */
export const testGateway = (composition: Composition, signIn?: SignInSettings): Gateway =>
  createWholeGateway(composition, { ...builtFiles(), page: pageFolder(consolePage) }, signIn);

/** Serves a gateway. `answeredIds` gets the ids of calls in the order in which their answers begin. */
export async function serveGateway(
  composition: Composition,
  gateway: Gateway = testGateway(composition),
  answeredIds: string[] = [],
): Promise<GatewayServer> {
  const running = new Set<Promise<void>>();
  const countingGateway: Gateway = async (request, context) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    running.add(promise);
    void promise.then(() => running.delete(promise));
    const response = await gateway(request, context);
    answeredIds.push(String(response.headers[headerNames.requestId]));
    return { ...response, finish: async () => response.finish?.().finally(resolve) };
  };
  const server = createNodeServer(countingGateway, composition);
  const url = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}/v1`;
  return {
    url,
    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
    close: () => server.close(),
  };
}
