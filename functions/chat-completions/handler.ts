// The door of POST /v1/chat/completions: a function URL with RESPONSE_STREAM. Dependencies are made once per
// environment; what belongs to a request is never kept here.

import { bundleAdapters, createRuntime, warmChat } from '../../shared/composition/index.ts';
import { readEnvironment } from '../../shared/foundation/environment/index.ts';
import { createStreamingHandler, guardProcess } from '../../shared/protocol/http/index.ts';
import { createChatGateway } from './routes.ts';

const environment = readEnvironment();
const runtime = createRuntime({ environment, ...bundleAdapters(environment) });
guardProcess(runtime.log);

/** Awaited by the module that Lambda loads, before the first call. */
export const prepare = () => warmChat(runtime);

export const handler = createStreamingHandler(createChatGateway(runtime), runtime);
