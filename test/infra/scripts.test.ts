// How scripts end: with a verdict, whatever they wait for.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '#jest';
import { projectRoot } from '../../infra/verify/verify-step.ts';

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** As a script of the project runs, in a process that nothing else keeps running. */
const run = (source: string): Promise<Ended> =>
  new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['--input-type=module', '--eval', source],
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
    expect([never.code === 0, never.output.split('\n')[0]]).toEqual([false, 'it: it ended before its work was done']);
    expect(await script('async () => {}')).toEqual({ code: 0, output: '' });
    expect(await script("async () => { throw new Error('no'); }")).toEqual({ code: 1, output: 'it: no\n' });
  });
});
