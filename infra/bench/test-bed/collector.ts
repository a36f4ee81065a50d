// A collector of traces in the bench's own process: it counts, and parses nothing before it is asked.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

export async function startCollector() {
  let exports: Buffer[] = [];
  const server = createServer(async (incoming, outgoing) => {
    exports.push(Buffer.concat(await incoming.toArray()));
    outgoing.setHeader('content-type', 'application/json').end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** What came since the last time. */
    take() {
      const taken = exports;
      exports = [];
      const texts = taken.map((body) => gunzipSync(body).toString());
      return {
        exports: taken.length,
        bytes: taken.reduce((sum, { length }) => sum + length, 0),
        bytesUnpacked: texts.reduce((sum, { length }) => sum + length, 0),
        spans: texts.reduce((sum, text) => sum + text.split('"spanId"').length - 1, 0),
      };
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
