// Compares two gateways by the same calls in the same turns: the figures, and their ratio.
import { atLeast, atMost, median, type SpeedTarget, type Table } from '../report.ts';
import { timesTarget } from '../targets.ts';

export interface Kind {
  readonly name: 'JSON' | 'stream';
  readonly connections: 1 | 32;
  /** Number of calls of a turn. */
  readonly count: number;
}

/**
 * Figures of one turn. Each figure is a mean or a median per call, except for the first figure. Streams count until
 * their first chunk. NaN means "not measured".
 */
const figureNames = [
  'calls a second',
  'CPU of gateway and store, ms',
  'added latency, ms',
  'added to the first chunk, ms',
] as const;
type FigureName = (typeof figureNames)[number];
export type BenchFigures = Readonly<Record<FigureName, number>>;

/** Figures of one turn by the name of the called gateway. */
export type BenchTurn = ReadonlyMap<string, BenchFigures>;

interface ComparedFigure {
  readonly calls: string;
  readonly connections: number;
  readonly figure: FigureName;
  readonly that: number;
  readonly here: number;
  /**
   * Ratio of this gateway's figure to the other gateway's figure in a turn: the median of all turns, the lowest and the
   * highest.
   */
  readonly times: number;
  readonly least: number;
  readonly most: number;
}

export interface Names {
  readonly that: string;
  readonly here: string;
}

export function compare(
  calls: string,
  connections: number,
  turns: readonly BenchTurn[],
  names: Names,
): ComparedFigure[] {
  return figureNames.flatMap((figure) => {
    const figuresOf = (name: string) => turns.map((turn) => turn.get(name)?.[figure] ?? NaN);
    const [that, here] = [figuresOf(names.that), figuresOf(names.here)];
    const ratios = here.map((value, turn) => value / (that[turn] ?? NaN));
    if (ratios.every(Number.isNaN)) return [];
    const [times, least, most] = [median(ratios), Math.min(...ratios), Math.max(...ratios)];
    return [{ calls, connections, figure, that: median(that), here: median(here), times, least, most }];
  });
}

export const tableOf = (figures: readonly ComparedFigure[], { that, here }: Names): Table => ({
  title: `${here} beside ${that}: medians of the turns, and how many times the other's it is in a turn: median, least and most`,
  columns: ['calls', 'connections', 'figure', that, here, 'times', 'least', 'most'],
  rows: figures.map((figure) => Object.values(figure)),
});

const whatOf = ({ calls, connections, figure }: ComparedFigure): string =>
  `${calls} on ${connections}: ${figure.replace(', ms', '')}`;

interface Beside {
  readonly name: string;
  readonly compared: readonly ComparedFigure[];
}

export const targetsOf = ({ name, compared }: Beside): SpeedTarget[] =>
  compared.flatMap((one) => {
    const what = whatOf(one);
    const limit = timesTarget(what, name);
    if (limit === undefined) return [];
    return [(one.figure === 'calls a second' ? atLeast : atMost)(`${what}, times ${name}`, one.times, limit)];
  });

/**
 * Returns one line for each figure, for a README. A line shows this tree, then each other tree or gateway with the
 * measured ratio and its target.
 */
export const summaryOf = (here: string, others: readonly Beside[]): Table => ({
  title: 'Side by side, medians of the turns',
  columns: ['calls', 'connections', 'figure', here, ...others.flatMap(({ name }) => [name, 'times', 'target'])],
  rows: (others[0]?.compared ?? []).map((one) => [
    ...[one.calls, one.connections, one.figure, one.here],
    ...others.flatMap(({ name, compared }) => {
      const beside = compared.find((other) => whatOf(other) === whatOf(one));
      return beside === undefined
        ? ['', '', '']
        : [beside.that, beside.times, targetsOf({ name, compared: [beside] })[0]?.[1]];
    }),
  ]),
});
