// Declares one step of `npm run verify:aws`, with its claim and its requirements on this machine.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

export const projectRoot = resolve(import.meta.dirname, '../..');

export interface VerifyStep {
  readonly name: string;
  /** Returns a few words on its result. Throws Skipped if this machine lacks a tool, and an Error for a failure. */
  run(): Promise<string>;
}

export class Skipped extends Error {
  override readonly name = 'Skipped';
}

interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
  readonly timeoutMs?: number;
}

interface CommandResult {
  readonly code: number;
  /** Standard output and error. */
  readonly output: string;
}

const commandTimeoutMs = 600_000;
const outputMaxBytes = 64 * 1024 * 1024;

/**
 * Runs a command. Never rejects, because a command that cannot be started has the code -1. The project's own Node comes
 * first on its PATH.
 */
export function tryCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const { cwd = projectRoot, env = {}, input, timeoutMs: timeout = commandTimeoutMs } = options;
  const path = `${dirname(process.execPath)}:${process.env.PATH ?? ''}`;
  return new Promise((resolveResult) => {
    const child = execFile(
      command,
      [...args],
      { cwd, timeout, maxBuffer: outputMaxBytes, env: { ...process.env, PATH: path, ...env } },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolveResult({ code, output: `${stdout}${stderr}` || (error?.message ?? '') });
      },
    );
    child.stdin?.end(input ?? '');
  });
}

const shownLines = 15;

/** Runs a command. Rejects with the last lines of its output when it fails. */
export async function runCommand(command: string, args: readonly string[], options?: CommandOptions): Promise<string> {
  const { code, output } = await tryCommand(command, args, options);
  if (code === 0) return output;
  throw new Error(
    `${command} ${args.join(' ')} failed:\n${output.trimEnd().split('\n').slice(-shownLines).join('\n')}`,
  );
}

/** Runs `npm test -- FILES`, and describes the result in a few words. */
export async function runTests(files: readonly string[], env: CommandOptions['env'] = {}): Promise<string> {
  const output = await runCommand('npm', ['test', '--', ...files], { env });
  return /^Tests: +(.+)$/m.exec(output)?.[1] ?? 'no test ran';
}

/** Runs `npm run gw -- …`, as an operator types it. */
export const runGateway = (args: readonly string[], options?: CommandOptions): Promise<string> =>
  runCommand('npm', ['run', '--silent', 'gw', '--', ...args], options);

/**
 * Applies a gateway file with one key in it, to the store that `place` names. Returns the text of the key, as printed.
 */
export async function applyFile(text: string, place: readonly string[], options?: CommandOptions): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-verify-'));
  const file = join(folder, 'gateway.yaml');
  writeFileSync(file, text);
  const printed = runGateway(['apply', '-f', file, '--yes', ...place], options);
  const [key] = /sk-gw-[\w-]+/.exec(await printed.finally(() => rmSync(folder, { recursive: true }))) ?? [];
  if (key === undefined) throw new Error('applying the gateway file printed no key');
  return key;
}

/**
 * Returns the path of a program of a Python package, which is installed into a virtual environment under .cache on its
 * first use. Throws Skipped if Python or the package is not available.
 */
export async function pythonProgram(requirement: string, program: string): Promise<string> {
  const folder = join(projectRoot, '.cache', requirement.replaceAll(/[^\w.]+/g, '-'));
  const path = join(folder, 'bin', program);
  if (existsSync(path)) return path;
  const creation = await tryCommand('python3', ['-m', 'venv', folder]);
  const installed =
    creation.code === 0 ? await tryCommand(join(folder, 'bin/pip'), ['install', '--quiet', requirement]) : creation;
  if (installed.code === 0 && existsSync(path)) return path;
  rmSync(folder, { recursive: true, force: true });
  const reason = installed.output.trim().split('\n').at(-1) ?? 'no reason given';
  throw new Skipped(`${requirement} cannot be installed here: ${reason}`);
}
