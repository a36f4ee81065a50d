export { createDynamoClient, type DynamoClient } from './client.ts';
export { createDynamoStore } from './dynamodb-store.ts';
