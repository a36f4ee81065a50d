// A relay in a process of its own: Node's server and Node's client, which read and check nothing. No gateway on Node
// can use less processor time. Arguments: the port, and the URL of the provider.
import { Agent, createServer, request } from 'node:http';

const [port, provider = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, scheduling: 'lifo' });
const { host, hostname, port: providerPort } = new URL(provider);
/** Longer than any section, because a socket that closes in between would be measured as a slow call. */
const keepAliveTimeout = 600_000;

createServer({ keepAliveTimeout }, (incoming, outgoing) => {
  const { method, url, headers } = incoming;
  const options = { agent, hostname, port: providerPort, method, path: url, headers: { ...headers, host } };
  const onward = request(options, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  onward.on('error', () => outgoing.destroy());
  incoming.pipe(onward);
}).listen({ port: Number(port), host: '127.0.0.1', backlog: 4_096 });
