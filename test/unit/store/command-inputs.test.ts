import { describe, expect, it } from '#jest';
import {
  deleteInput,
  getInput,
  putInput,
  queryInput,
  scanInput,
  updateInput,
} from '../../../shared/storage/store/command-inputs.ts';

describe('the input of a command', () => {
  it('reads strongly consistently, by the physical name of the table', () => {
    expect(getInput('dev', 'keys', 'key#1')).toEqual({
      TableName: 'gw-dev-keys',
      Key: { pk: 'key#1' },
      ConsistentRead: true,
    });
    expect(getInput('dev', 'records', 'part', 'item').Key).toEqual({ pk: 'part', sk: 'item' });
    expect(deleteInput('prod', 'config', 'a')).toEqual({ TableName: 'gw-prod-config', Key: { pk: 'a' } });
  });

  it('asks every conditional write for the item that stood in the way', () => {
    const put = putInput('dev', { table: 'keys', item: { pk: 'a' }, condition: 'attribute_not_exists(pk)' });
    expect(put).toEqual({
      TableName: 'gw-dev-keys',
      Item: { pk: 'a' },
      ConditionExpression: 'attribute_not_exists(pk)',
      ReturnValues: 'NONE',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
  });

  it('asks an update for the item after it, or with returnOld for the one before', () => {
    const update = {
      table: 'keys',
      key: 'a',
      expression: 'SET #n = :n',
      names: { '#n': 'n' },
      values: { ':n': 10n ** 20n },
    } as const;
    expect(updateInput('dev', update)).toEqual({
      TableName: 'gw-dev-keys',
      Key: { pk: 'a' },
      UpdateExpression: 'SET #n = :n',
      ExpressionAttributeNames: { '#n': 'n' },
      ExpressionAttributeValues: { ':n': 10n ** 20n },
      ReturnValues: 'ALL_NEW',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    expect(updateInput('dev', { ...update, returnOld: true }).ReturnValues).toBe('ALL_OLD');
    expect(putInput('dev', { table: 'keys', item: { pk: 'a' }, returnOld: true }).ReturnValues).toBe('ALL_OLD');
  });

  it('leaves empty names and values out, because DynamoDB refuses them', () => {
    const input = updateInput('dev', { table: 'keys', key: 'a', expression: 'REMOVE n', names: {}, values: {} });
    expect(input).not.toHaveProperty('ExpressionAttributeNames');
    expect(input).not.toHaveProperty('ExpressionAttributeValues');
    expect(input).not.toHaveProperty('ConditionExpression');
  });

  it('continues a scan after the last key of the page before', () => {
    expect(scanInput('dev', 'keys', undefined)).not.toHaveProperty('ExclusiveStartKey');
    expect(scanInput('dev', 'keys', { pk: 'z' }).ExclusiveStartKey).toEqual({ pk: 'z' });
  });

  it('asks a query for one partition, in pages of a bounded number of items', () => {
    expect(queryInput('dev', 'records', 'a', {}, undefined)).toEqual({
      TableName: 'gw-dev-records',
      ConsistentRead: true,
      Limit: 500,
      KeyConditionExpression: '#pk = :pk',
      ExpressionAttributeNames: { '#pk': 'pk' },
      ExpressionAttributeValues: { ':pk': 'a' },
    });
    const last = { pk: 'a', sk: '1' };
    expect(queryInput('dev', 'records', 'a', {}, last).ExclusiveStartKey).toEqual(last);
  });

  it.each([
    [{ from: '1' }, '#sk >= :from', { ':from': '1' }],
    [{ to: '2' }, '#sk <= :to', { ':to': '2' }],
    [{ from: '1', to: '2' }, '#sk BETWEEN :from AND :to', { ':from': '1', ':to': '2' }],
  ])('bounds a query by %j in one condition, and names nothing that it does not use', (range, condition, values) => {
    expect(queryInput('dev', 'records', 'a', range, undefined)).toMatchObject({
      KeyConditionExpression: `#pk = :pk AND ${condition}`,
      ExpressionAttributeNames: { '#pk': 'pk', '#sk': 'sk' },
      ExpressionAttributeValues: { ':pk': 'a', ...values },
    });
  });
});
