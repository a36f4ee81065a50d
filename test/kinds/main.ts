// `npm run kinds`: prints every interface of every kind with the source of its recorded or documented answers.
import { runScript } from '../../infra/run-script.ts';
import { readRows } from '../support/kind-answers.ts';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

await runScript('kinds', () => {
  for (const { kind, api, answers } of readRows()) {
    const { source, date, whole, streams = [], broken = [], refusals = [], unsourced = [] } = answers;
    const counts = `${whole.length} whole, ${streams.length} streams, ${broken.length} broken, ${refusals.length} refusals`;
    say(`${`${kind} ${api}`.padEnd(28)} ${date}  ${counts}`);
    say(`    ${source}`);
    for (const { status, words = '', source: place } of refusals)
      say(`    ${status} ${JSON.stringify(words)}: ${place === 'none' ? 'NO SOURCE' : place}`);
    if (unsourced.length > 0) say(`    NO SOURCE for ${unsourced.join(', ')}`);
  }
});
