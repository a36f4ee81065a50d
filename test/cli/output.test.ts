import { describe, expect, it } from '#jest';
import { readSince } from '../../infra/cli/args/option-values.ts';
import { bar, formatAge, toJsonText } from '../../infra/cli/output/format.ts';
import { memberLines, table } from '../../infra/cli/output/table.ts';
import { inBold, onlyText, type Terminal } from '../../infra/cli/output/terminal.ts';
import { utcDaysBetween } from '../../shared/accounting/call-records/index.ts';
import { mapParallel, mergeParallel } from '../../shared/foundation/parallel/index.ts';
import { operate, plain } from './operator.ts';

describe('a table', () => {
  const columns = [
    { title: 'name', isFlexible: true },
    { title: 'USD', align: 'decimal' },
  ] as const;

  it('puts the points of amounts under each other and keeps every digit', () => {
    const lines = table(
      columns,
      [
        ['a', '12'],
        ['b', '0.000000000001'],
        ['c', '3.5'],
      ],
      plain,
    );
    expect(lines).toEqual(['name              USD', 'a     12', 'b      0.000000000001', 'c      3.5']);
  });

  it('keeps within the width by cutting names, never amounts', () => {
    const lines = table(columns, [['a-rather-long-name-of-a-model', '12.345678901234']], {
      columns: 32,
      isColoured: false,
    });
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(32);
    expect(lines[1]).toMatch(/^a-rather-long.*… {2}12\.345678901234$/);
  });

  it('leaves out what matters least if the line is too narrow, says what, and lets a pipe have all of it', () => {
    const wide = [
      { title: 'name', isFlexible: true },
      { title: 'note', leftOut: 1 },
      { title: 'ms', leftOut: 2 },
      { title: 'id' },
    ];
    const row = ['a-rather-long-name-of-a-model', 'a note of twenty-four ch', '1234', '01a20259-9ead-7c5b-9c24'];
    const at = (width: number) => table(wide, [row], { columns: width, isColoured: false });
    expect(at(Number.POSITIVE_INFINITY)[1]).toBe(row.join('  '));
    expect(at(60)).toEqual([
      'name                           ms    id',
      'a-rather-long-name-of-a-model  1234  01a20259-9ead-7c5b-9c24',
      'left out, the terminal is too narrow: note',
    ]);
    expect(at(40).slice(1)).toEqual([
      'a-rather-long-…  01a20259-9ead-7c5b-9c24',
      'left out, the terminal is too narrow: n…',
    ]);
    for (const width of [20, 40, 60, 80]) {
      expect(Math.max(...at(width).map((line) => line.length))).toBeLessThanOrEqual(width);
    }
  });

  it('lets nothing through that steers a terminal', () => {
    const [, line] = table([{ title: 'model' }], [['\u001b[2Jgone\u009b1m\u202e']], plain);
    expect(line).toBe('·[2Jgone·1m·');
  });

  it('of the fields of one document has its values below each other, however long a name is', () => {
    const document = { id: 'a', cache_write_tokens: 0, left: null };
    const lines = memberLines(document, (value) => (value === null ? undefined : String(value)));
    expect(lines).toEqual(['id                  a', 'cache_write_tokens  0']);
  });

  it('has colour only if it is wanted', () => {
    expect(table(columns, [], { columns: 80, isColoured: true })[0]).toContain('\u001b[1m');
    expect(table(columns, [], plain)[0]).not.toContain('\u001b');
  });
});

describe('json', () => {
  it('keeps integers exact and escapes what some terminals obey', () => {
    expect(toJsonText({ small: 7n, large: 2n ** 60n, name: '\u009b1m' })).toBe(
      '{\n  "small": 7,\n  "large": "1152921504606846976",\n  "name": "\\u009b1m"\n}',
    );
  });
});

describe('bars and ages', () => {
  it('a bar is as long as its share, and the least share shows', () => {
    expect([bar(1, 4), bar(0.5, 4), bar(0.0001, 4), bar(0, 4), bar(Number.NaN, 4)]).toEqual([
      '████',
      '██',
      '▏',
      '',
      '',
    ]);
  });
  it('an age has two units at most', () => {
    expect([0, 12_000, 125_000, 90_061_000].map(formatAge)).toEqual(['0s', '12s', '2m 5s', '1d 1h']);
  });
});

describe('since', () => {
  const nowMs = Date.parse('2026-11-20T15:00:00Z');
  it('reads lengths of time and days of UTC', () => {
    expect(readSince('--since', '2d', nowMs)).toBe(Date.parse('2026-11-18T15:00:00Z'));
    expect(readSince('--since', '12h', nowMs)).toBe(Date.parse('2026-11-20T03:00:00Z'));
    expect(readSince('--since', '2026-11-01', nowMs)).toBe(Date.parse('2026-11-01T00:00:00Z'));
  });
  it('refuses the future', () => {
    expect(() => readSince('--since', '2026-11-21', nowMs)).toThrow('lies in the future');
  });
  it('names every day that it touches, once', () => {
    expect(utcDaysBetween(Date.parse('2026-10-31T23:59:00Z'), Date.parse('2026-11-02T00:00:00Z'))).toEqual([
      '2026-10-31',
      '2026-11-01',
      '2026-11-02',
    ]);
  });
});

describe('reading side by side', () => {
  async function* source(name: string, count: number, open: { now: number; most: number }) {
    open.now += 1;
    open.most = Math.max(open.most, open.now);
    for (let index = 0; index < count; index += 1) {
      await Promise.resolve();
      yield `${name}${index}`;
    }
    open.now -= 1;
  }

  it('gives every value of every source once, with no more of them open than said', async () => {
    const open = { now: 0, most: 0 };
    const sources = ['a', 'b', 'c', 'd', 'e'].map((name, index) => source(name, index, open));
    const values: string[] = [];
    for await (const value of mergeParallel(sources, 2)) values.push(value);
    expect(values.toSorted()).toEqual(['b0', 'c0', 'c1', 'd0', 'd1', 'd2', 'e0', 'e1', 'e2', 'e3']);
    expect(open.most).toBe(2);
  });

  it('fails with the failure of a source', async () => {
    async function* brokenLines() {
      yield 1;
      throw new Error('broken');
    }
    const read = async () => {
      for await (const _value of mergeParallel([brokenLines(), brokenLines()], 2));
    };
    await expect(read()).rejects.toThrow('broken');
  });

  it('maps in the order of the items', async () => {
    expect(await mapParallel([3, 1, 2], 2, async (value) => value * 10)).toEqual([30, 10, 20]);
  });
});

describe('the terminal', () => {
  it('gets lines of text only, whichever way they come', async () => {
    const hostile = 'a\u001b]0;owned\u0007\nforged\r\u009b2J\t\u0000';
    const lines: string[] = [];
    const take = (text: string) => void lines.push(text);
    const asking = async (text: string) => {
      lines.push(text);
      return hostile;
    };
    const ways = {
      writeOut: take,
      writeError: take,
      showProgress: take,
      ask: asking,
      readSecret: asking,
    };
    const reads = { readInput: async () => '' };
    const terminal = onlyText({ style: plain, canAsk: true, ...reads, ...ways } satisfies Terminal);
    terminal.writeOut(hostile);
    terminal.writeError(hostile);
    terminal.showProgress(hostile);
    expect(await terminal.ask(hostile)).toBe(hostile);
    expect(await terminal.readSecret(hostile)).toBe(hostile);
    expect(lines).toEqual(new Array(Object.keys(ways).length).fill('a·]0;owned··forged··2J··'));
    terminal.writeOut(inBold(`title ${hostile}`));
    expect(lines.at(-1)).toBe(inBold('title a·]0;owned··forged··2J··'));
    terminal.writeOut('a\u200eb\u200fc\u202ad\u202ee\u2066f\u2069g\u061ch');
    expect(lines.at(-1)).toBe('a·b·c·d·e·f·g·h');
  });

  it('gets no words of the line itself that steer it', async () => {
    for (const words of [
      ['\u001b]0;owned\u0007\nforged'],
      ['calls', 'show', '\u001b]0;owned\u0007\nforged', '--data', 'x'],
    ]) {
      const { code, out, error } = await operate(words);
      expect([code, out]).toEqual([2, '']);
      expect(error).not.toMatch(/\p{Cc}/u);
    }
  });
});
