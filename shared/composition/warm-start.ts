// Reads the data that every first call needs while the module loads: Lambda gives that phase a whole processor, and a
// call of a small function a fraction of one. It also opens the first connections to the store. Each function reads
// what its role allows.
import { type Clock, waitAtMost } from '../foundation/time/index.ts';
import type { GatewayComposition } from './create-gateway-composition.ts';
import type { TableReaders } from './create-table-readers.ts';

/** Longest time, which is more than two reads in sequence with their own limits, and far below Lambda's ten seconds. */
const warmStartMaxMs = 2_000;

/** Warms the gateway. Never rejects, because a failure is dropped, and the first call reads again. */
export const warmGateway = ({
  clock,
  catalogue,
  credentials,
  credentialCheck,
  cooldowns,
  origin,
}: Pick<
  GatewayComposition,
  'clock' | 'catalogue' | 'credentials' | 'credentialCheck' | 'cooldowns' | 'origin'
>): Promise<void> => {
  const credentialsCheck = Promise.all([catalogue.current(), credentials.warm()]).then(([current]) =>
    credentialCheck.look(current),
  );
  return settleAll(clock, [credentialsCheck, cooldowns.refresh(), origin.warm()]);
};

/** Warms the models function. Never rejects, as above. */
export const warmModels = ({
  clock,
  catalogue,
  origin,
}: Pick<TableReaders, 'clock' | 'catalogue' | 'origin'>): Promise<void> =>
  settleAll(clock, [catalogue.current(), origin.warm()]);

async function settleAll(clock: Clock, reads: readonly Promise<unknown>[]): Promise<void> {
  await waitAtMost(clock, warmStartMaxMs, Promise.allSettled(reads), () => {});
}
