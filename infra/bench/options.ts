// `npm run bench -- [--quick] [--portkey] [--json FILE] [--only rounds,first-chunk,cpu,start,latency,memory]`
import { parseArgs } from 'node:util';

export const sectionNames = ['rounds', 'first-chunk', 'cpu', 'start', 'latency', 'memory'] as const;
export type SectionName = (typeof sectionNames)[number];

export interface BenchOptions {
  readonly isQuick: boolean;
  readonly withPortkey: boolean;
  /** Where the figures go as JSON. Undefined: into a file of the temporary folder. */
  readonly jsonFile: string | undefined;
  readonly sections: ReadonlySet<SectionName>;
}

export const usage = `npm run bench -- [--quick] [--portkey] [--json FILE] [--only ${sectionNames.join(',')}]`;

/** Throws an Error with one line for the person at the terminal. */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      portkey: { type: 'boolean', default: false },
      json: { type: 'string' },
      only: { type: 'string' },
    },
  });
  const wanted = values.only?.split(',') ?? sectionNames;
  const unknown = wanted.find((name) => !sectionNames.some((known) => known === name));
  if (unknown !== undefined) throw new Error(`--only takes ${sectionNames.join(', ')}`);
  return {
    isQuick: values.quick,
    withPortkey: values.portkey,
    jsonFile: values.json,
    sections: new Set(sectionNames.filter((name) => wanted.includes(name))),
  };
}
