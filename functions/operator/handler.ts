// The entry point of the console and of the management interface: a plain function URL.
import { join } from 'node:path';
import { createTableReaders, warmModels } from '../../shared/composition/index.ts';
import { readEnvironment } from '../../shared/foundation/environment/index.ts';
import { createBufferedHandler, guardProcess } from '../../shared/protocol/http/index.ts';
import { pageFolder } from './console/page-folder.ts';
import { createOperatorGateway } from './routes.ts';

const environment = readEnvironment();
const readers = createTableReaders({ environment });
guardProcess(readers.log);

/** Awaited by the module that Lambda loads, before the first call. */
export const prepare = () => warmModels(readers);

// The build puts the page beside this bundle.
const page = pageFolder(join(__dirname, 'page'));

export const handler = createBufferedHandler(createOperatorGateway({ ...readers, page }), readers);
