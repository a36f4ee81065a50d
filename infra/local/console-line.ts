// How to open the console of a gateway that was just started. The demo, and a store that ends with this process, get an
// operator key of their own, new at each start: no command line could make one for them in time, or at all.
import type { Composition } from '../../shared/composition/index.ts';
import { createOperator, readOperators, revokeOperator } from '../../shared/configuration/administration/index.ts';
import { programs, rootPaths } from '../../shared/foundation/constants/index.ts';
import { type StartedGateway, storeOption } from './describe-start.ts';

const operatorName = 'console-of-the-local-start';

type Dependencies = Pick<Composition, 'operators' | 'clock' | 'randomness'>;

export async function consoleLine(
  deps: Dependencies,
  started: Pick<StartedGateway, 'url' | 'data' | 'dynamodb'> & { readonly isDemo: boolean },
): Promise<string> {
  const address = new URL(rootPaths.console, started.url).href;
  const store = storeOption(started);
  if (store !== undefined && !started.isDemo) {
    return `console ${address} with an operator key: ${programs.commandLine} operators create --name NAME ${store}`;
  }
  return `console ${address}#key=${await renewOperator(deps)}`;
}

/** The key of a former start opens nothing any more. */
async function renewOperator(deps: Dependencies): Promise<string> {
  for (const operator of await readOperators(deps)) {
    if (operator.name === operatorName && operator.status === 'active') await revokeOperator(deps, operator);
  }
  return (await createOperator(deps, operatorName)).text;
}
