// All behaviours by name. A model name is `anything/NAME:PARAMETER:PARAMETER`; a name that is not here is `echo`.
import type { Behaviour, Behaviours } from '../call.ts';
import { answers, echo, jsonContents } from './answers.ts';
import { faultsAfterOutput } from './faults-after-output.ts';
import { faultsBeforeOutput } from './faults-before-output.ts';
import { framings } from './framing.ts';
import { pauses, stalls } from './pauses.ts';
import { scripts } from './scripted.ts';
import { usages } from './usages.ts';

const faults: Behaviours = { ...stalls, ...faultsBeforeOutput, ...faultsAfterOutput };

const registry: Behaviours = {
  ...answers,
  ...scripts,
  ...usages,
  ...jsonContents,
  ...framings,
  ...pauses,
  ...faults,
};

export const behaviourNames: readonly string[] = Object.keys(registry);

export interface ChosenBehaviour {
  readonly name: string;
  readonly parameters: readonly string[];
  readonly behaviour: Behaviour;
  /** A fault changes the answer; a test that scripts it relies on that. */
  readonly isFault: boolean;
}

export function chooseBehaviour(model: string): ChosenBehaviour {
  const [name = '', ...parameters] = model.slice(model.lastIndexOf('/') + 1).split(':');
  if (!Object.hasOwn(registry, name)) return { name: 'echo', parameters: [], behaviour: echo, isFault: false };
  return { name, parameters, behaviour: registry[name] ?? echo, isFault: Object.hasOwn(faults, name) };
}
