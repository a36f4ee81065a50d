// A DynamoDB client with something between it and the store: to watch its commands, to fail them, to lose their answers.
import type { DynamoClient } from '../../shared/storage/dynamodb-store/index.ts';

export interface SentCommand {
  /** `PutItem`, `UpdateItem` … */
  readonly name: string;
  /** Items and values as the store wrote them. */
  readonly input: Readonly<Record<string, unknown>>;
}

export type AroundSend = <Value>(command: SentCommand, send: () => Promise<Value>) => Promise<Value>;

export const aroundSend = (client: DynamoClient, around: AroundSend): DynamoClient => ({
  send: ((command: DocumentCommand, options: object) =>
    around(described(command), () => client.send(command as never, options))) as DynamoClient['send'],
  destroy: () => {},
});

/** A command of the document client holds the one that it sends. */
interface DocumentCommand {
  readonly input: SentCommand['input'];
  readonly clientCommand?: object;
}

const described = ({ input, clientCommand = {} }: DocumentCommand): SentCommand => ({
  name: clientCommand.constructor.name.replace(/Command$/, ''),
  input,
});
