// Starts the parts that all sections measure: the provider, the store, and two gateways on that store. One gateway is
// timed. The requests of the other gateway to the store pass through a proxy that counts them. Both gateways run as
// `npm start` does.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { physicalTableName, type TableName } from '../../../shared/foundation/constants/index.ts';
import { stageSettings } from '../../cdk/stage-settings.ts';
import { concurrencyVariables, keyRateVariables } from '../../cdk/stage-variables.ts';
import { openDynamoEngine } from '../../dynamodb-engine/start-engine.ts';
import { gatewayFileText, newKeys } from './bench-file.ts';
import { startGateway } from './gateway-process.ts';
import { largestItemBytes } from './item-size.ts';
import { type PeerChoice, startPeers } from './peer.ts';
import { startProvider } from './provider.ts';
import { startStoreProxy } from './store-proxy.ts';

interface BedChoice extends PeerChoice {
  /** URL of the engine that is measured. If absent, the test bed starts its own engine. */
  readonly dynamodb?: string | undefined;
}

export type TestBed = Awaited<ReturnType<typeof startTestBed>>;

/** Returns the variables that the template of `prod` and Lambda itself set. */
function functionVariables(): Readonly<Record<string, string>> {
  const { prod } = stageSettings;
  if (prod === undefined) throw new Error('the settings have no stage prod');
  return { ...concurrencyVariables(prod), ...keyRateVariables(prod), AWS_LAMBDA_FUNCTION_NAME: 'gw-prod' };
}

async function startTestBed(folder: string, choice: BedChoice, stops: (() => unknown)[]) {
  const keep = <Part extends { stop(): unknown }>(part: Part): Part => {
    stops.unshift(part.stop);
    return part;
  };
  const provider = keep(await startProvider());
  const store = keep(await openDynamoEngine(choice.dynamodb));
  const proxy = keep(await startStoreProxy(store.endpoint));
  const keys = newKeys();
  const configFile = join(folder, 'gateway.yaml');
  await writeFile(configFile, gatewayFileText(provider.url, keys));
  const gateway = keep(await startGateway({ configFile, storeUrl: store.endpoint, folder }));
  /**
   * Starts another gateway on the store of the timed gateway. The other gateway sends its spans to the provider, which
   * answers every request.
   */
  const startTracingGateway = () => {
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: provider.url };
    return startGateway({ name: 'gw, traces on', configFile, storeUrl: store.endpoint, folder, environment });
  };
  // The counted gateway has the variables of a function of `prod`, whose limits count too.
  const counted = { configFile, storeUrl: proxy.url, folder, environment: functionVariables() };
  const countedGateway = keep(await startGateway(counted));
  const peers = (await startPeers(choice, provider.url, folder)).map(keep);
  return {
    ...{
      folder,
      provider,
      proxy,
      storeUrl: store.endpoint,
      keys,
      gateway,
      countedGateway,
      startTracingGateway,
      peers,
    },
    /** Returns the size of the largest item of each table, in bytes. */
    itemSizes: (tables: readonly TableName[]) =>
      Promise.all(tables.map((table) => largestItemBytes(store.endpoint, physicalTableName('local', table)))),
    advanceClocks: (advanceMs: number) =>
      Promise.all([gateway, countedGateway].map((one) => one.inspect({ advanceMs }))),
  };
}

/** Runs `use` on a new test bed. `folder` is empty, and the caller removes it. */
export async function withTestBed(folder: string, choice: BedChoice, use: (bed: TestBed) => Promise<void>) {
  const stops: (() => unknown)[] = [];
  try {
    await use(await startTestBed(folder, choice, stops));
  } finally {
    for (const stop of stops) await stop();
  }
}
