// Scripts end with a verdict, whatever they wait for.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '#jest';
import { projectRoot } from '../../infra/verify/verify-step.ts';

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a script of the project in a process that nothing else keeps alive. */
const run = (source: string): Promise<Ended> =>
  new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['--require', './infra/require-node.cjs', '--input-type=module', '--eval', source],
      { cwd: projectRoot },
      (_error, stdout, stderr) => resolve({ code: child.exitCode, output: `${stdout}${stderr}` }),
    );
  });
const urlOf = (path: string) => new URL(join(projectRoot, path), 'file:').href;

describe('a script', () => {
  it('that stops a child that does not listen to SIGTERM and holds nothing open goes on once it has ended', async () => {
    const { code, output } = await run(`
      import { spawnBoundChild } from '${urlOf('infra/local/bound-child.ts')}';
      const child = spawnBoundChild('sh', ['-c', 'trap "" TERM; echo up; while :; do sleep 0.1; done']);
      await new Promise((resolve) => child.process.stdout.ref().once('data', resolve));
      child.process.stdout.unref();
      await child.stop();
      console.log('stopped', child.process.signalCode);`);
    expect(output).toBe('stopped SIGKILL\n');
    expect(code).toBe(0);
  });

  it('whose work never ends fails with one line, and no other does', async () => {
    const script = (work: string) =>
      run(`import { runScript } from '${urlOf('infra/run-script.ts')}'; await runScript('it', ${work});`);
    const never = await script('() => new Promise(() => {})');
    expect([never.code, never.output.match(/^gw: .*$/gm)]).toEqual([13, ['gw: it ended before its work was done']]);
    expect(await script('async () => {}')).toEqual({ code: 0, output: '' });
    expect(await script("async () => { throw new Error('no'); }")).toEqual({ code: 1, output: 'it: no\n' });
  });

  it('whose reader has closed its pipe, as `head` does, ends without a word', async () => {
    const source = "setInterval(() => process.stdout.write('a line\\n'.repeat(10_000)), 1)";
    const child = spawn(
      process.execPath,
      ['--require', './infra/require-node.cjs', '--input-type=module', '--eval', source],
      { cwd: projectRoot },
    );
    let words = '';
    child.stderr.on('data', (chunk) => {
      words += String(chunk);
    });
    child.stdout.once('data', () => child.stdout.destroy());
    const [code] = await once(child, 'close');
    expect([code, words]).toEqual([0, '']);
  });

  it('of this project is one of those: it waits for its work where Node sees that it waits', () => {
    const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const ours = Object.values(scripts).flatMap((line) => / (\S+\.ts)\b/.exec(line)?.[1] ?? []);
    expect(ours.length).toBeGreaterThan(15);
    for (const file of ours) {
      const source = readFileSync(join(projectRoot, file), 'utf8');
      // A promise at the top level that is not awaited would let the process end with exit code 0.
      expect([file, source.match(/^(void |\w+\(.*\)\.(then|catch)\()/gm)]).toEqual([file, null]);
      expect([file, /^(.*= |if \(import\.meta\.main\) | {2}| {4}for \(.* of )?await /m.test(source)]).toEqual([
        file,
        true,
      ]);
    }
  });
});
