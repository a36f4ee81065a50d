// Is the entry point of the console and of the management interface, which have a plain function URL.
import { join } from 'node:path';
import { createOperatorComposition } from '../../shared/composition/index.ts';
import { readEnvironment, readSignInEnvironment } from '../../shared/foundation/environment/index.ts';
import { createBufferedHandler, guardProcess } from '../../shared/protocol/http/index.ts';
import { pageFolder } from './console/page-folder.ts';
import { createOperatorGateway } from './routes.ts';
import { createSignIn } from './sign-in/index.ts';

const environment = readEnvironment();
const composition = createOperatorComposition({ environment });
guardProcess(composition.log);

/**
 * Prepares the process. The module that Lambda loads awaits it before the first call, so that the first connection to
 * the store is open by then.
 */
export const prepare = async () => {
  await Promise.all([composition.catalogues.readPointer().catch(() => undefined), composition.origin.warm()]);
};

// The build places the page in a folder next to this bundle.
const page = pageFolder(join(__dirname, 'page'), environment.gatewayUrl);

const settings = readSignInEnvironment();
const signIn = settings && createSignIn(settings, composition.clock);

export const handler = createBufferedHandler(createOperatorGateway({ ...composition, signIn }, page), composition);
