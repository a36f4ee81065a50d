// Notes which faults models' names have requested, and whether the faults were sent. A test that scripts a fault proves
// nothing if the fault does not change the answer.
import { isDeepStrictEqual } from 'node:util';
import type { SimulatorCall, SimulatorFormat } from './call.ts';
import type { SimulatorStep, Steps } from './step.ts';

export interface ScriptedFaults {
  /**
   * Returns the steps of the fault. The fault counts as sent once a step is performed that the plain answer does not
   * have.
   */
  readonly watch: (call: SimulatorCall, steps: Steps, plainSteps: Steps) => Steps;
  /** Notes a fault in whose place the request was refused. */
  readonly miss: (model: string, format: SimulatorFormat) => void;
  /** Returns the faults that no call was sent, as `no-done (chat-completions, JSON)`. */
  readonly unsent: () => readonly string[];
}

export function createScriptedFaults(): ScriptedFaults {
  const isSentByName = new Map<string, boolean>();

  function* watch(call: SimulatorCall, steps: Steps, plainSteps: Steps): Steps {
    const name = nameOf(call);
    isSentByName.set(name, isSentByName.get(name) ?? false);
    const plain = plainSteps[Symbol.iterator]();
    let isPlain = true;
    for (const step of steps) {
      isPlain &&= isSame(step, plain.next());
      yield step;
      if (!isPlain) isSentByName.set(name, true);
    }
    if (isPlain && plain.next().done !== true) isSentByName.set(name, true);
  }

  return {
    watch,
    miss: (model, { name }) => void isSentByName.set(`${model} (${name}, the request was refused)`, false),
    unsent: () => Array.from(isSentByName).flatMap(([name, isSent]) => (isSent ? [] : [name])),
  };
}

/** Names a fault, which may be sent in a format's streams and not in its JSON. */
const nameOf = ({ name, parameters, format, request }: SimulatorCall): string =>
  `${[name, ...parameters].join(':')} (${format.name}, ${request.isStream ? 'stream' : 'JSON'})`;

const isSame = (step: SimulatorStep, { value, done }: IteratorResult<SimulatorStep>): boolean =>
  done !== true && isDeepStrictEqual(step, value);

/** Returns two sources of ids. The second source repeats the ids of the first. */
export function repeatedIds(newId: SimulatorCall['newId']): readonly [SimulatorCall['newId'], SimulatorCall['newId']] {
  const ids: string[] = [];
  let repeated = 0;
  const first = (prefix: string) => {
    const id = newId(prefix);
    ids.push(id);
    return id;
  };
  const second = (prefix: string) => {
    repeated += 1;
    return ids[repeated - 1] ?? newId(prefix);
  };
  return [first, second];
}
