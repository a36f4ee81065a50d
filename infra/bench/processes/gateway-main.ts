// The gateway of the bench in a process of its own: the local run as `npm start` makes it, with its embedded store.
// `node gateway-main.ts <gateway file>`
import { startLocalGateway } from '../../local/start-local-gateway.ts';
import { sayReady } from './child-side.ts';

const [config] = process.argv.slice(2);
const gateway = await startLocalGateway({ port: 0, config, data: undefined, dynamodb: undefined }, () => {});
sayReady({ url: gateway.url });
process.once('SIGTERM', async () => {
  await gateway.stop();
  process.exit(0);
});
