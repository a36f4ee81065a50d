// `npm run check`: counts words in comments and pages beside their ceilings; `npm run check -- --lower` lowers these.
import { writeFileSync } from 'node:fs';
import { runScript } from '../../infra/run-script.ts';
import { ceilingsFile, countsAbove, countWords, lowered, readCeilings } from './word-counts.ts';

await runScript('check', () => {
  const [counts, ceilings] = [countWords(), readCeilings()];
  const lower = lowered(counts, ceilings);
  for (const [name, count] of Object.entries(counts)) {
    const ceiling = ceilings[name];
    const note = lower[name] === ceiling ? '' : `  lower the ceiling to ${lower[name]}: --lower`;
    console.log(`${String(count).padStart(6)} of ${String(ceiling ?? '-').padStart(5)}  ${name}${note}`);
  }

  const above = countsAbove(counts, ceilings);
  for (const { name, count, ceiling } of above) console.error(`above its ceiling: ${name}: ${count}, not ${ceiling}`);
  if (above.length > 0) process.exitCode = 1;
  else if (process.argv.includes('--lower')) {
    writeFileSync(ceilingsFile, `${JSON.stringify(lower, undefined, 2)}\n`);
  }
});
