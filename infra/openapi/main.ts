// Prints the description of the API, which a gateway serves at /openapi.json (`npm run openapi`).
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { managementRoutes } from '../../shared/configuration/management/index.ts';
import { runScript } from '../run-script.ts';
import { defaultServerUrl, errorsPage, openApiDocument } from './description/index.ts';

const usage = 'npm run --silent openapi -- [--yaml | --errors | --routes] [--server URL]';

/** Lists the management interface with one line a request, and the least role that may send the request. */
const routesPage = (): string =>
  Object.entries(managementRoutes)
    .map(([request, { role, summary }]) => `${request.padEnd(46)}  ${role.padEnd(14)}  ${summary}`)
    .join('\n');

function textOf(args: readonly string[]): string {
  const { values } = parseArgs({
    args: [...args],
    options: {
      yaml: { type: 'boolean', default: false },
      errors: { type: 'boolean', default: false },
      routes: { type: 'boolean', default: false },
      server: { type: 'string', default: defaultServerUrl },
    },
  });
  if (values.errors) return errorsPage();
  if (values.routes) return routesPage();
  const document = openApiDocument(values.server);
  return values.yaml
    ? stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 }).trimEnd()
    : JSON.stringify(document, null, 2);
}

await runScript('openapi', () => process.stdout.write(`${textOf(process.argv.slice(2))}\n`), usage);
