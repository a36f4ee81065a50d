import { isJsonObject } from '../../../../protocol/wire/index.ts';

/** Messages, or items, that are read in a few milliseconds. */
const readAtOnce = 1_024;

/** Those of a list that are objects, with a step behind so many. */
export async function forEachObject(
  list: unknown,
  nextStep: () => Promise<void>,
  read: (item: Readonly<Record<string, unknown>>) => void,
): Promise<void> {
  if (!Array.isArray(list)) return;
  for (const [at, item] of list.entries()) {
    if (isJsonObject(item)) read(item);
    if (at % readAtOnce === readAtOnce - 1) await nextStep();
  }
}
