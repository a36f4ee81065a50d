// `npm run drift` runs the tests that compare the gateway with types and catalogues of packages, with the newest
// published versions of these packages, and prints the differences. The project and its packages stay as they are.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { printLine, runScript } from '../../infra/run-script.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { copyProject, driftTests, interfacePackages } from './newest-packages.ts';

/** On Windows npm is a script, which needs a shell. */
const npm = (...words: string[]): string =>
  execFileSync('npm', words, {
    encoding: 'utf8',
    shell: process.platform === 'win32',
    stdio: ['ignore', 'pipe', 'ignore'],
  });

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}
/** The number of lines that are shown of a difference. */
const shownLines = 25;
function markText(text: string): string {
  const lines = text.split('\n').slice(0, shownLines);
  return lines.map((line) => `         ${line}`).join('\n');
}

await runScript('drift', () => {
  const newerPackages = [...interfacePackages()].flatMap(([name, installed]) => {
    const newest = npm('view', name, 'version').trim();
    printLine(newest === installed ? `same     ${name} ${installed}` : `newer    ${name} ${installed} → ${newest}`);
    return newest === installed ? [] : [{ name, newest }];
  });
  if (newerPackages.length === 0) return printLine('ok       every package is the newest');
  const folder = temporaryFolder();
  try {
    const packages = join(folder, 'packages');
    npm(
      'install',
      '--prefix',
      packages,
      '--no-save',
      '--no-audit',
      '--ignore-scripts',
      ...newerPackages.map((one) => `${one.name}@${one.newest}`),
    );
    const project = join(folder, 'project');
    copyProject(project, new Map(newerPackages.map(({ name }) => [name, join(packages, 'node_modules', name)])));
    const faults = runTests(project);
    for (const { title, words } of faults) printLine(`MOVED    ${title}\n${words}`);
    if (faults.length > 0) throw new Error(`${faults.length} tests say that something moved`);
    printLine('ok       nothing that the gateway knows of them has moved');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

function runTests(project: string): { readonly title: string; readonly words: string }[] {
  const output = join(project, 'report.json');
  const jest = [
    '--require',
    './infra/require-node.cjs',
    'node_modules/jest/bin/jest.js',
    '-w',
    '2',
    '--json',
    `--outputFile=${output}`,
  ];
  spawnSync(process.execPath, [...jest, ...driftTests()], { cwd: project, stdio: 'ignore' });
  const { testResults } = JSON.parse(readFileSync(output, 'utf8')) as Report;
  return testResults.flatMap(({ name, message, assertionResults }) => {
    const failed = assertionResults.filter(({ status }) => status === 'failed');
    // A file that does not load has no tests.
    if (assertionResults.length === 0 && message !== '')
      return [{ title: name.slice(project.length + 1), words: markText(message) }];
    return failed.map(({ fullName, failureMessages }) => ({
      title: fullName,
      words: markText(failureMessages.join('\n')),
    }));
  });
}
