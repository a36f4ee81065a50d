import { describe, expect, it } from '#jest';
import { createLineBatches } from '../../../shared/foundation/log/index.ts';
import { manualClock } from '../../support/manual-clock.ts';

describe('log lines in batches', () => {
  it('are one write a tenth of a second after the first, in their order, and none where none came', () => {
    const clock = manualClock();
    const written: string[] = [];
    const lines = createLineBatches(clock, (text) => void written.push(text));
    lines.add('one\n');
    lines.add('two\n');
    clock.advance(99);
    expect(written).toEqual([]);
    clock.advance(1);
    expect(written).toEqual(['one\ntwo\n']);
    lines.flush();
    clock.advance(1_000);
    expect(written).toHaveLength(1);
  });

  it('are written at once when 64 KiB wait, so that no more is kept', () => {
    const written: string[] = [];
    const lines = createLineBatches(manualClock(), (text) => void written.push(text));
    const line = `${'x'.repeat(1_023)}\n`;
    for (let count = 0; count < 64; count += 1) lines.add(line);
    expect(written).toEqual([line.repeat(64)]);
  });
});
