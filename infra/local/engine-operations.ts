// DynamoDB's operations as the engine's tools take them: the same values under other names, and for a refused condition
// the item that stood in its way, which the engine leaves out.
import { tableDefinitions } from '../../shared/foundation/constants/index.ts';
import type { EngineConnection } from './engine-connection.ts';

type Input = Readonly<Record<string, unknown>>;
type Key = Readonly<Record<string, unknown>>;

export type EngineResult =
  | { readonly error?: undefined; readonly output: string }
  | {
      readonly error: { readonly __type: string; readonly message: string; readonly Item?: unknown };
      readonly output?: undefined;
    };

type RunOperation = (operation: string, input: Input, signal?: AbortSignal) => Promise<EngineResult>;

export function createEngineOperations(engine: EngineConnection): RunOperation {
  const inTurn = createTurns();

  async function run(operation: string, input: Input): Promise<EngineResult> {
    const { isError, text } = await engine.call(snakeCase(operation), toolInput(operation, input));
    if (!isError) return { output: text };
    const { error_type: __type, message } = JSON.parse(text) as { error_type: string; message: string };
    return { error: { __type, message } };
  }

  /** Alone on its item, so that the item read after a refusal is the one that was refused. */
  const write = (operation: string, input: Input, key: Key, signal: AbortSignal | undefined): Promise<EngineResult> =>
    inTurn(`${input.TableName} ${JSON.stringify(key)}`, async () => {
      signal?.throwIfAborted();
      const result = await run(operation, input);
      const isRefused = result.error?.__type === 'ConditionalCheckFailedException';
      if (!isRefused || input.ReturnValuesOnConditionCheckFailure !== 'ALL_OLD') return result;
      const standing = await run('GetItem', { TableName: input.TableName, Key: key });
      if (standing.error !== undefined) return standing;
      return { error: { ...result.error, ...JSON.parse(standing.output) } };
    });

  return async (operation, input, signal) => {
    const key = keyOf(operation, input);
    return key === undefined ? run(operation, input) : write(operation, input, key, signal);
  };
}

/** Of the one item that is written; undefined for every other operation. */
function keyOf(operation: string, { TableName, Key, Item }: Input): Key | undefined {
  if (operation === 'UpdateItem' || operation === 'DeleteItem') return Key as Key;
  if (operation !== 'PutItem') return undefined;
  const { partitionKey, sortKey }: { partitionKey?: string; sortKey?: string } = definitionOf(String(TableName));
  const names = Object.entries(Item as Key).filter(([name]) => name === partitionKey || name === sortKey);
  return Object.fromEntries(names);
}

function definitionOf(physicalName: string) {
  const name = physicalName.slice(physicalName.lastIndexOf('-') + 1);
  return tableDefinitions[name as keyof typeof tableDefinitions];
}

/** `raw`: the answer of DynamoDB, not a summary of it. */
const toolInput = (operation: string, input: Input): Input => ({
  ...Object.fromEntries(Object.entries(input).map(([name, value]) => [snakeCase(name), value])),
  ...(operation === 'DescribeTable' ? { raw: true } : {}),
});

const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter, at) => `${at === 0 ? '' : '_'}${letter.toLowerCase()}`);

type InTurn = <Value>(name: string, run: () => Promise<Value>) => Promise<Value>;

/** Runs what has the same name one after the other. */
function createTurns(): InTurn {
  const lastByName = new Map<string, Promise<unknown>>();
  return async (name, run) => {
    const former = lastByName.get(name);
    const turn = former === undefined ? run() : former.then(run, run);
    lastByName.set(name, turn);
    try {
      return await turn;
    } finally {
      if (lastByName.get(name) === turn) lastByName.delete(name);
    }
  };
}
