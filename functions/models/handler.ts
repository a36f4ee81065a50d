// Is the entry point of GET /v1/models, which has a plain function URL and only reads tables.

import { createTableReaders, warmModels } from '../../shared/composition/index.ts';
import { readEnvironment } from '../../shared/foundation/environment/index.ts';
import { createBufferedHandler, guardProcess } from '../../shared/protocol/http/index.ts';
import { createModelsGateway } from './routes.ts';

const environment = readEnvironment();
const readers = createTableReaders({ environment });
guardProcess(readers.log);

/** Prepares the process. The module that Lambda loads awaits it before the first call. */
export const prepare = () => warmModels(readers);

export const handler = createBufferedHandler(createModelsGateway(readers), readers);
