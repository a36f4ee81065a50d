import { describe, expect, it } from '#jest';
import { renderExpressions } from '../../../shared/storage/dynamodb-store/expressions.ts';
import {
  absent,
  and,
  atLeast,
  atMost,
  type Condition,
  contains,
  equals,
  exists,
  less,
  not,
  or,
} from '../../../shared/storage/store/index.ts';

const conditionText = (condition: Condition) => renderExpressions(undefined, condition).ConditionExpression;

describe('the expressions of a write', () => {
  it('have a placeholder for every name and value, each used and each once', () => {
    const condition = and(equals('state', 'used'), equals(['entry', 'state'], 'used'), less('count', 3));
    expect(renderExpressions({ set: { state: 'used', lease: 3n } }, condition)).toEqual({
      UpdateExpression: 'SET #n0 = :v0, #n1 = :v1',
      ConditionExpression: '#n0 = :v0 AND #n2.#n0 = :v0 AND #n3 < :v2',
      ExpressionAttributeNames: { '#n0': 'state', '#n1': 'lease', '#n2': 'entry', '#n3': 'count' },
      // 3n and 3 are two values for one number.
      ExpressionAttributeValues: { ':v0': { S: 'used' }, ':v1': { N: '3' }, ':v2': { N: '3' } },
    });
  });

  it('have each clause once, in which what is kept out of the write has no placeholder', () => {
    const changes = {
      set: { a: 1, left_out: undefined },
      setIfAbsent: { b: 2 },
      copyIfAbsent: { c: 'a0' },
      add: { d: 5n },
      addElements: { e: new Set(['x']) },
      removeElements: { f: new Set(['y']), g: new Set(['z']) },
      remove: ['a', 'g', 'h'],
    };
    expect(renderExpressions(changes, undefined)).toEqual({
      UpdateExpression:
        'SET #n0 = :v0, #n1 = if_not_exists(#n1, :v1), #n2 = if_not_exists(#n2, #n3) REMOVE #n4, #n5 ADD #n6 :v2, #n7 :v3 DELETE #n8 :v4',
      ExpressionAttributeNames: {
        ...{
          '#n0': 'a',
          '#n1': 'b',
          '#n2': 'c',
          '#n3': 'a0',
          '#n4': 'g',
          '#n5': 'h',
          '#n6': 'd',
          '#n7': 'e',
          '#n8': 'f',
        },
      },
      ExpressionAttributeValues: {
        ...{ ':v0': { N: '1' }, ':v1': { N: '2' }, ':v2': { N: '5' } },
        ...{ ':v3': { SS: ['x'] }, ':v4': { SS: ['y'] } },
      },
    });
  });

  it('are left out if there is nothing to say', () => {
    expect(renderExpressions({}, undefined)).toEqual({});
    expect(renderExpressions({ set: {}, remove: [] }, undefined)).toEqual({});
  });

  it('say every condition, in parentheses only if groups are in one another', () => {
    expect(conditionText(or(absent('a'), exists('b'), atLeast('c', 1)))).toBe(
      'attribute_not_exists(#n0) OR attribute_exists(#n1) OR #n2 >= :v0',
    );
    expect(conditionText(and(or(absent('a'), atMost('a', 1)), not(contains('m', 'x'))))).toBe(
      '(attribute_not_exists(#n0) OR #n0 <= :v0) AND NOT contains(#n1, :v1)',
    );
    expect(conditionText(not(or(atLeast('a', 1), less('a', 0))))).toBe('NOT (#n0 >= :v0 OR #n0 < :v1)');
    expect(conditionText(and(or(and(exists('a')))))).toBe('attribute_exists(#n0)');
    expect(conditionText(equals('a', null))).toBe('attribute_type(#n0, :v0)');
  });

  it('are refused if a group has no conditions', () => {
    expect(() => conditionText(and(exists('a'), or()))).toThrow('a group of no conditions cannot be expressed');
  });
});
