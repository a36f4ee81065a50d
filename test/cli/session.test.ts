import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { projectRoot, type RunningGateway, startGateway } from '../support/gateway-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startShell } from './child-processes.ts';

interface Step {
  readonly command: string;
  readonly printed: string[];
}

const readText = (path: string) => readFileSync(join(projectRoot, path), 'utf8');

/** Returns the commands of a session, each with its output. */
const readSession = (name: string): Step[] => readSteps(readText(`test/cli/session-of-${name}.txt`));

function readSteps(block: string): Step[] {
  const steps: Step[] = [];
  for (const line of block.trimEnd().split('\n')) {
    if (line.startsWith('$ ')) steps.push({ command: line.slice(2), printed: [] });
    else steps.at(-1)?.printed.push(line);
  }
  return steps;
}

/** Removes what differs each time: keys, ids, times and the width of columns. */
const stable = (line: string): string =>
  line
    .replace(/sk-gw-\w+-\w+/g, '<key>')
    .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<id>')
    .replace(/\b[0-9A-Za-z]{16}\b/g, '<public id>')
    .replace(/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b/g, '<time>')
    .replace(/127\.0\.0\.1:\d+/g, '<address>')
    .replace(/ \d+ +\d+ +(\d+\+\d+) /, ' <ms> <ms> $1 ')
    // These are the percentiles of `usage`.
    .replace(/( +\d+){4}(?=( +\d+){2} +[\d.]+ +█)/, ' <ms>')
    .replace(/ +/g, ' ');

/** Compares two outputs; a line of `…` matches any number of lines. */
function matchesPrinted(expected: readonly string[], actual: readonly string[]): boolean {
  const [first, ...rest] = expected;
  if (first === undefined) return actual.length === 0;
  if (first === '…')
    return actual.some((_line, index) => matchesPrinted(rest, actual.slice(index))) || rest.length === 0;
  return actual[0] !== undefined && stable(first) === stable(actual[0]) && matchesPrinted(rest, actual.slice(1));
}

/** Resolves when the gateway has logged, and so settled, as many requests: records follow their answers. */
async function untilSettled({ process, out }: RunningGateway, requests: number): Promise<void> {
  while (out().split('"event":"request"').length - 1 < requests) await once(process.stdout as Readable, 'data');
}

describe('a session that the README links to prints the text of its page, line by line', () => {
  const folder = temporaryFolder();
  const data = join(folder, 'readme');
  let running: RunningGateway;
  /** The number of requests that sessions have sent. */
  let requests = 0;
  beforeAll(async () => {
    running = await startGateway(`--log json --data ${data}`, folder);
  });
  afterAll(() => running.stop());

  it.each([
    ['a-day', 20],
    ['an-outage', 8],
  ])('%s', async (name, stepsMin) => {
    const steps = readSession(name);
    expect(steps.length).toBeGreaterThan(stepsMin);
    const earlierRequests = requests;
    const shell = startShell((ofShell) => {
      requests = earlierRequests + ofShell;
      return untilSettled(running, requests);
    });
    try {
      for (const { command, printed } of steps) {
        const line = command
          .replace('--data .gw', `--data ${data}`)
          .replace('http://127.0.0.1:8787/v1', running.url)
          .replace('gateway.yaml', join(folder, 'exported.yaml'))
          .replace('sleep 1', 'sleep 0.1');
        const actual = await shell.run(line);
        if (!matchesPrinted(printed, actual)) expect({ command, printed: actual }).toEqual({ command, printed });
      }
    } finally {
      shell.stop();
    }
  });

  it('and begins with the commands that the README itself shows', () => {
    const [, sessionText = ''] = /```console\n(.*?)```/s.exec(readText('infra/cli/README.md')) ?? [];
    const run = readSession('a-day').map(({ command }) => command);
    const commands = readSteps(sessionText).map(({ command }) => command);
    expect(commands.length).toBeGreaterThan(5);
    expect(commands.filter((command) => !run.includes(command))).toEqual([]);
  });
});
