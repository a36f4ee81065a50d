// A DynamoDB client with a function around each command: to watch commands, to fail them, or to lose their answers.
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { DynamoClient } from '../../shared/storage/dynamodb-store/index.ts';

export interface SentCommand {
  /** Name of the command, such as `PutItem` or `UpdateItem`. */
  readonly name: string;
  /** Items and values as the store wrote them. */
  readonly input: Readonly<Record<string, unknown>>;
}

export type AroundSend = <Value>(command: SentCommand, send: () => Promise<Value>) => Promise<Value>;

export const aroundSend = (client: DynamoClient, around: AroundSend): DynamoClient => ({
  send: ((command: SdkCommand, options: object) =>
    around(describeCommand(command), () => client.send(command as never, options))) as DynamoClient['send'],
  destroy: () => {},
});

/** A command; one of the document client contains the command that it sends, and has plain values. */
interface SdkCommand {
  readonly input: SentCommand['input'];
  readonly clientCommand?: object;
}

function describeCommand(command: SdkCommand): SentCommand {
  const { input, clientCommand } = command;
  const name = (clientCommand ?? command).constructor.name.replace(/Command$/, '');
  return { name, input: clientCommand === undefined ? withValues(input) : input };
}

const withValues = (input: SentCommand['input']): SentCommand['input'] =>
  Object.fromEntries(
    Object.entries(input).map(([member, value]) => [
      member,
      typeof value === 'object' && ['Key', 'Item', 'ExpressionAttributeValues'].includes(member)
        ? unmarshall(value as Record<string, AttributeValue>)
        : value,
    ]),
  );
