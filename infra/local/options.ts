// `npm start -- [--port 8787] [--config FILE] [--data DIR] [--dynamodb URL]` (contract 10).
import { parseArgs } from 'node:util';

export interface LocalOptions {
  readonly port: number;
  /** Path of a gateway file. Undefined: the demo. */
  readonly config: string | undefined;
  /** Folder that keeps the tables between runs. Undefined: in memory. */
  readonly data: string | undefined;
  /** A DynamoDB-compatible server to use instead of the embedded one. */
  readonly dynamodb: string | undefined;
}

const portDefault = 8787;
const portMax = 65_535;

export const usage = 'npm start -- [--port 8787] [--config FILE] [--data DIR] [--dynamodb URL]';

/** Throws an Error with one line for the person at the terminal. */
export function readOptions(args: readonly string[]): LocalOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: 'string' },
      config: { type: 'string' },
      data: { type: 'string' },
      dynamodb: { type: 'string' },
    },
  });
  const port = values.port === undefined ? portDefault : Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > portMax) throw new Error(`--port takes 0 to ${portMax}`);
  if (values.dynamodb !== undefined && !/^https?:\/\/[^/]+\/?$/.test(values.dynamodb)) {
    throw new Error('--dynamodb takes the URL of a server, as in http://127.0.0.1:8000');
  }
  if (values.dynamodb !== undefined && values.data !== undefined) {
    throw new Error('--data is for the embedded DynamoDB, --dynamodb for another one: use one of them');
  }
  return { port, config: values.config, data: values.data, dynamodb: values.dynamodb };
}
