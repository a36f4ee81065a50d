// LiteLLM's list as rows of the model list: models of the supported provider kinds, in what these serve here. Where the
// list is ambiguous, the dearer reading is taken.
import type { ListedModel } from '../../shared/configuration/model-list/index.ts';
import type { LitellmList } from './litellm-row.ts';
import { readTaskModels } from './read-task-models.ts';
import { readTextModel } from './read-text-models.ts';

export function readLitellm(list: LitellmList): ListedModel[] {
  const models = new Map<string, ListedModel>();
  const texts = Object.entries(list).flatMap(([name, model]) => readTextModel(name, model) ?? []);
  for (const read of [...texts, ...readTaskModels(list)]) {
    const key = `${read.kind} ${read.name}`;
    models.set(key, dearer(models.get(key), read));
  }
  return [...models.values()];
}

/** Some models are listed under two names. */
function dearer(former: ListedModel | undefined, read: ListedModel): ListedModel {
  if (former === undefined) return read;
  return Number(former.prices.output) >= Number(read.prices.output) ? former : read;
}
