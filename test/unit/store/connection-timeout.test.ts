import '../../support/errors-across-realms.ts';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from '@jest/globals';
import { maySendAgain } from '../../../shared/store/attempts.ts';
import { createDynamoClient } from '../../../shared/store/dynamodb-client.ts';
import { startFakeDynamo } from '../../stores/fake-dynamodb.ts';

it('a call that got no connection in time is known by the words the SDK uses for it', async () => {
  const fake = await startFakeDynamo(['silent']);
  const client = createDynamoClient({ endpoint: fake.endpoint });
  const send = () => client.send(new GetItemCommand({ TableName: 'gw-test-keys', Key: { pk: { S: 'a' } } }));
  // As many silent calls as there are sockets: the next one waits for a socket until the connection timeout.
  const silent = Array.from({ length: 256 }, () => send().catch(() => {}));
  const error = await send().catch((reason: unknown) => reason);
  expect(maySendAgain(error, 'once')).toBe(true);
  await fake.stop();
  client.destroy();
  await Promise.all(silent);
});
