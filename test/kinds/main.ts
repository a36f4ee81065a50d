// `npm run kinds` prints every interface of every kind with the source of its recorded or documented answers.
import { printLine, runScript } from '../../infra/run-script.ts';
import { readRows } from '../support/kind-answers.ts';

await runScript('kinds', () => {
  for (const { kind, api, answers } of readRows()) {
    const { source, date, whole, streams = [], broken = [], refusals = [], unsourced = [] } = answers;
    const counts = `${whole.length} whole, ${streams.length} streams, ${broken.length} broken, ${refusals.length} refusals`;
    printLine(`${`${kind} ${api}`.padEnd(28)} ${date}  ${counts}`);
    printLine(`    ${source}`);
    for (const { status, words = '', source: place } of refusals)
      printLine(`    ${status} ${JSON.stringify(words)}: ${place}`);
    if (unsourced.length > 0) printLine(`    NO SOURCE for ${unsourced.join(', ')}`);
  }
});
