// The door of POST /v1/chat/completions: a function URL with RESPONSE_STREAM. Dependencies are made once per
// environment; what belongs to a request is never kept here.

import { bundleAdapters, createGatewayComposition, warmGateway } from '../../shared/composition/index.ts';
import { readEnvironment } from '../../shared/foundation/environment/index.ts';
import { createStreamingHandler, guardProcess } from '../../shared/protocol/http/index.ts';
import { createGateway } from './routes.ts';

const environment = readEnvironment();
const composition = createGatewayComposition({ environment, ...bundleAdapters(environment) });
guardProcess(composition.log);

/** Awaited by the module that Lambda loads, before the first call. */
export const prepare = () => warmGateway(composition);

export const handler = createStreamingHandler(createGateway(composition), composition);
