// Values that are built once for all test files of a run: the first caller builds, the others wait for the result.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runFolder } from './temporary-folder.ts';
import { eventually } from './watched-clock.ts';

/** Rejects with the error of the build in each caller. The result passes from process to process as JSON. */
export async function builtOnce<Result>(name: string, build: () => Promise<Result>): Promise<Result> {
  const report = join(runFolder(), `${name}.json`);
  const isFirst = mkdirSync(join(runFolder(), `${name}.built`), { recursive: true }) !== undefined;
  if (isFirst) {
    const built = await build().then(
      (result) => ({ result }),
      (error: Error) => ({ error: error.message }),
    );
    writeFileSync(`${report}.new`, JSON.stringify(built));
    renameSync(`${report}.new`, report);
  }
  await eventually(() => existsSync(report));
  const { result, error } = JSON.parse(readFileSync(report, 'utf8')) as { result: Result; error?: string };
  if (error !== undefined) throw new Error(error);
  return result;
}
