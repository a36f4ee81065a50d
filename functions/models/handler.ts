// The door of GET /v1/models: a plain function URL.

import { bundleAdapters, createRuntime } from '../../shared/composition/index.ts';
import { readEnvironment } from '../../shared/foundation/environment/index.ts';
import { createBufferedHandler, guardProcess } from '../../shared/protocol/http/index.ts';
import { createModelsGateway } from './routes.ts';

const environment = readEnvironment();
const runtime = createRuntime({ environment, ...bundleAdapters(environment) });
guardProcess(runtime.log);

export const handler = createBufferedHandler(createModelsGateway(runtime), runtime);
