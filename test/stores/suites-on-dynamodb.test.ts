// The suites of money, limits and claims once more on DynamoDB, where writes of one item overlap: each file is loaded as another module.
import { afterAll, it } from '#jest';
import { describeOnDynamo, hasDynamo, startDynamoTestStore } from '../support/dynamodb.ts';
import { testStores } from '../support/test-store.ts';

const suites = ['credit', 'holds-key-admission', 'holds-model', 'idempotency', 'provider-limits'];

const { start } = testStores;
afterAll(() => {
  testStores.start = start;
});

if (hasDynamo) {
  testStores.start = startDynamoTestStore;
  for (const name of suites) await import(`./${name}.test.ts?on=dynamodb`);
} else {
  describeOnDynamo('the suites', () => {
    it('on DynamoDB', () => {});
  });
}
