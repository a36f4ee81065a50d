// The matrix itself: every cell is tested or has a reason, and the numbers of both.
import { readdirSync } from 'node:fs';
import { describe, expect, it } from '#jest';
import { interfaceIds } from '../../shared/foundation/constants/index.ts';
import { clientInterfaces } from './client-interfaces.ts';
import { columns, columnsOf, type MatrixColumn, type Reason, reasons } from './columns.ts';
import { pendingCells } from './pending.ts';
import { askedCells, reasonOf, rows } from './rows.ts';

const allRows: readonly (readonly [string, readonly Reason[]])[] = Object.values(rows).flatMap((group) =>
  Object.entries(group),
);

/** Counts the untested cells by reason, and the tested ones. */
function countCells(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [, reasons] of allRows) {
    for (const column of columns) {
      const answer = reasonOf(reasons, column) ?? 'tested';
      counts[answer] = (counts[answer] ?? 0) + 1;
    }
  }
  return counts;
}

describe('the matrix', () => {
  it('asks each cell, or has a reason of the list: a row or a column more changes these numbers', () => {
    expect(countCells()).toEqual({
      tested: 3_006,
      'calls no provider': 144,
      'can serve': 144,
      'cannot serve': 10_500,
      'has no price': 120,
      'has no schema': 53,
      'has no state at the provider': 20,
      'has no stream': 1_404,
      'has no text of a model': 301,
      'has no tools': 26,
      'has one delivery': 38,
      'is not cached': 63,
      'is whole': 104,
      'keeps no answer at the provider': 61,
    });
  });

  it('has a file of tests for each group of rows, and each row once', () => {
    const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts'));
    expect(files.sort()).toEqual([...Object.keys(rows), 'matrix'].map((group) => `${group}.test.ts`).sort());
    expect(new Set(allRows.map(([row]) => row)).size).toBe(allRows.length);
  });

  it('has a column for each interface, at each format that serves it, whole and if it has one as a stream', () => {
    const servedColumns = columns.filter((column) => !reasons['cannot serve'](column));
    expect([...new Set(servedColumns.map(({ interfaceId }) => interfaceId))]).toEqual(interfaceIds);
    expect(new Set(columns.map(({ name }) => name)).size).toBe(columns.length);
    expect(servedColumns.filter(({ delivery }) => delivery === 'whole')).toHaveLength(72);
  });

  it('asks each column in some row', () => {
    const isAsked = (column: MatrixColumn) => allRows.some(([, reasons]) => reasonOf(reasons, column) === undefined);
    const unasked = columns.filter((column) => !isAsked(column));
    expect(unasked.filter((column) => !reasons['has no stream'](column))).toEqual([]);
  });

  it('fails if a row is not asked, an interface has no entry, or an entry no model of a kind', () => {
    const { rerank, ...others } = clientInterfaces;
    expect(() => askedCells('limits', {})).toThrow('nothing asks the row: requests a minute of a key');
    expect(() => columnsOf(others)).toThrow('rerank has no entry');
    const kinds = {} as typeof rerank.kinds;
    expect(() => columnsOf({ ...others, rerank: { ...rerank, kinds } })).toThrow(
      'rerank has no model of the kind bedrock',
    );
  });

  it('uses every reason', () => {
    expect(Object.keys(countCells()).sort()).toEqual(['tested', ...Object.keys(reasons)].sort());
  });

  it('has no pending cell that is not asked', () => {
    for (const { row, columns: names } of pendingCells) {
      const reasons = allRows.find(([name]) => name === row)?.[1] ?? [];
      const columnNames = columns.filter((column) => reasonOf(reasons, column) === undefined).map(({ name }) => name);
      expect(columnNames).toEqual(expect.arrayContaining([...(names ?? columnNames.slice(0, 1))]));
      expect(columnNames).not.toEqual([]);
    }
  });
});
