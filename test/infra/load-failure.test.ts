// A function whose code cannot be loaded, run through the uploaded entry file: an alarm counts its line.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '#jest';
import { definitions, functionNames } from '../../infra/build/bundle.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Loads the entry file beside a bundle, as Lambda does, and prints the type of its handler. */
function load(entry: string, bundle: string): Promise<{ failed: boolean; stdout: string }> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'index.mjs'), entry);
  writeFileSync(join(folder, 'index.cjs'), bundle);
  const show = "import('./index.mjs').then(({ handler }) => console.log(typeof handler))";
  const env = { GW_STAGE: 'prod', AWS_LAMBDA_FUNCTION_VERSION: '7' };
  return new Promise((resolve) => {
    execFile(process.execPath, ['--input-type=module', '--eval', show], { cwd: folder, env }, (error, stdout) => {
      resolve({ failed: error !== null, stdout });
    });
  });
}

describe.each(functionNames)('the function %s', (name) => {
  const entry = definitions[name].beside['index.mjs'];

  it.each([
    ['throws while it is loaded', "throw new TypeError('no such module')", 'TypeError', 'no such module'],
    ['is no JavaScript', 'const = 1', 'SyntaxError', expect.any(String)],
    ['fails in its first reads', "exports.prepare = async () => { throw new Error('gone') }", 'Error', 'gone'],
  ])('that %s writes one line with its version, and fails', async (_case, bundle, kind, message) => {
    const { failed, stdout } = await load(entry, bundle);
    expect(failed).toBe(true);
    const [line, ...rest] = stdout.split('\n');
    expect(rest).toEqual(['']);
    const error = { name: kind, message };
    expect(JSON.parse(String(line))).toEqual({
      level: 'error',
      event: 'load_failed',
      stage: 'prod',
      version: '7',
      error,
    });
  });

  it('that is sound exports its handler once it is prepared, and writes nothing', async () => {
    const bundle = 'let ready; exports.prepare = async () => { ready = true }; exports.handler = () => ready';
    expect(await load(entry, bundle)).toEqual({ failed: false, stdout: 'function\n' });
  });
});
