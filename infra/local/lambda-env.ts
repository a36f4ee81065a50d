// Prints the environment, as KEY=VALUE lines, in which the Lambda bundles run against the tables that `npm start --
// --dynamodb URL` created: `npm run --silent lambda-env -- --stage local --dynamodb URL`. Nothing in it is secret.
import { parseArgs } from 'node:util';
import { environmentNames } from '../../shared/foundation/constants/index.ts';
import { runScript } from '../run-script.ts';

/**
 * DynamoDB's local servers require signed requests, but check no signature. Some servers have separate tables per key
 * and region, so processes that share tables must share key and region. `shared/storage/store` uses the same values.
 */
const localDynamodbAccess = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
} as const;

/** Stage names that the bundles accept. */
const stagePattern = /^[A-Za-z0-9-]{1,32}$/;

interface LocalTables {
  /** Second part of every table name: `gw-<stage>-<table>`. */
  readonly stage: string;
  readonly dynamodbUrl: string;
}

export const lambdaEnvironment = ({ stage, dynamodbUrl }: LocalTables): Record<string, string> => ({
  [environmentNames.stage]: stage,
  AWS_ENDPOINT_URL_DYNAMODB: dynamodbUrl,
  ...localDynamodbAccess,
});

/** Reads the arguments. Throws an Error with one line if an argument is missing or malformed. */
export const readArguments = (args: readonly string[]): LocalTables => {
  const { values } = parseArgs({
    args: [...args],
    options: { stage: { type: 'string' }, dynamodb: { type: 'string' } },
  });
  const { stage, dynamodb } = values;
  if (stage === undefined || !stagePattern.test(stage)) {
    throw new Error('--stage needs a name of letters, digits and -, as in --stage local');
  }
  const url = dynamodb !== undefined && URL.canParse(dynamodb) ? new URL(dynamodb) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new Error('--dynamodb needs the URL of a DynamoDB server, as in --dynamodb http://127.0.0.1:8000');
  }
  return { stage, dynamodbUrl: url.origin };
};

if (import.meta.main) {
  await runScript('lambda-env', async () => {
    for (const [name, value] of Object.entries(lambdaEnvironment(readArguments(process.argv.slice(2))))) {
      process.stdout.write(`${name}=${value}\n`);
    }
  });
}
