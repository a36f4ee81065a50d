// Is the handler of the gateway's function URL, which has RESPONSE_STREAM. Dependencies are made once per environment;
// state of a request is never stored in the module.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleAdapters, createGatewayComposition, warmGateway } from '../../shared/composition/index.ts';
import { rootPaths } from '../../shared/foundation/constants/index.ts';
import { readEnvironment } from '../../shared/foundation/environment/index.ts';
import { createStreamingHandler, guardProcess } from '../../shared/protocol/http/index.ts';
import { createGateway } from './routes.ts';

// `isFunction` is set whatever the variables are, because the process is frozen after each call.
const environment = { ...readEnvironment(), isFunction: true };
const composition = createGatewayComposition({ environment, ...bundleAdapters(environment) });
guardProcess(composition.log);

/** Prepares the process. The module that Lambda loads awaits it before the first call. */
export const prepare = () => warmGateway(composition);

// The build puts the description into the folder of this bundle, under the name of its path.
const describeApi = () => readFile(join(__dirname, rootPaths.openapi), 'utf8');

export const handler = createStreamingHandler(createGateway(composition, describeApi), composition);
