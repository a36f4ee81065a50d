// Runs a suite once on every store that implements the port.
import { describe } from '#jest';
import { describeOnDynamo, startDynamoTestStore } from '../support/dynamodb.ts';
import { startTestStore, type TestStore } from '../support/test-store.ts';

export function onEachStore(suite: (start: () => Promise<TestStore>) => void): void {
  describe('on SQLite', () => suite(() => startTestStore()));
  describeOnDynamo('on DynamoDB', () => suite(startDynamoTestStore));
}
