// The door of GET /v1/models: a plain function URL.

import { readEnvironment } from '../../shared/config/index.ts';
import { createBufferedHandler, guardProcess } from '../../shared/http/index.ts';
import { bundleAdapters, createRuntime } from '../../shared/runtime/index.ts';
import { createModelsGateway } from './gateway.ts';

const environment = readEnvironment();
const runtime = createRuntime({ environment, ...bundleAdapters(environment) });
guardProcess(runtime.log);

export const handler = createBufferedHandler(createModelsGateway(runtime), runtime);
