// What a Dockerfile of the project would put into an image, without building it.
import { globSync, statSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from './temporary-folder.ts';

/** `[name, rest]`, continued lines joined. */
export type Instruction = readonly [string, string];

/** Instructions of one image of the file. */
export function imageInstructions(dockerfile: string, image: string): readonly Instruction[] {
  const all = dockerfile
    .replaceAll(/^#.*$/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .flatMap((line): Instruction[] => {
      const [, name, rest] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
      return name === undefined || rest === undefined ? [] : [[name, rest]];
    });
  const first = all.findIndex(([name, rest]) => name === 'FROM' && rest.endsWith(` AS ${image}`));
  const next = all.findIndex(([name], at) => at > first && name === 'FROM');
  return all.slice(first, next === -1 ? undefined : next);
}

/** Copies what its COPY instructions name from the folder that it is built from; what goes elsewhere than its working folder by its name. */
export async function copiedByImage(instructions: readonly Instruction[], folder: string): Promise<string> {
  const image = temporaryFolder();
  for (const [, rest] of instructions.filter(([name]) => name === 'COPY')) {
    const [target = '', ...sources] = rest
      .split(' ')
      .filter((word) => !word.startsWith('--'))
      .reverse();
    for (const source of sources) {
      for (const name of globSync(source, { cwd: folder })) {
        const isFolder = statSync(join(folder, name)).isDirectory();
        await cp(join(folder, name), isFolder ? join(image, target) : join(image, target, name), { recursive: true });
      }
    }
  }
  return image;
}
