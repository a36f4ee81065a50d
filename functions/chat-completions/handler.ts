// The door of POST /v1/chat/completions: a function URL with RESPONSE_STREAM. Dependencies are made once per
// environment; what belongs to a request is never kept here.

import { readEnvironment } from '../../shared/config/index.ts';
import { createStreamingHandler, guardProcess } from '../../shared/http/index.ts';
import { bundleAdapters, createRuntime } from '../../shared/runtime/index.ts';
import { createChatGateway } from './gateway.ts';

const environment = readEnvironment();
const runtime = createRuntime({ environment, ...bundleAdapters(environment) });
guardProcess(runtime.log);

export const handler = createStreamingHandler(createChatGateway(runtime), runtime);
