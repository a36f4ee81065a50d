// Formats the reports of sections as Markdown, and computes their statistics.
import { cpus, loadavg, totalmem } from 'node:os';

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number | undefined)[])[];
}

/**
 * A promise of the project about itself. A run that misses a target of time does not fail, because a busy machine
 * proves little.
 */
export type SpeedTarget = readonly [name: string, limit: string, measured: string, 'met' | 'MISSED'];

export interface SectionReport {
  readonly tables: readonly Table[];
  readonly targets: readonly SpeedTarget[];
  /** Set if a run that misses a target fails. */
  readonly failsWhereMissed?: true;
}

export const hasFailed = ({ targets, failsWhereMissed }: SectionReport): boolean =>
  failsWhereMissed === true && targets.some(([, , , outcome]) => outcome === 'MISSED');

/**
 * Returns the value at this fraction of the sorted values, never interpolated: 0.5 is the median. Returns NaN for no
 * values.
 */
export function percentile(values: readonly number[], fraction: number): number {
  const rank = Math.max(1, Math.ceil(fraction * values.length));
  return values.toSorted((a, b) => a - b)[rank - 1] ?? NaN;
}
export const median = (values: readonly number[]): number => percentile(values, 0.5);
export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export const atMost = (name: string, measured = NaN, limit: number, unit = ''): SpeedTarget => {
  return [name, `≤ ${limit}${unit}`, `${shown(measured)}${unit}`, measured <= limit ? 'met' : 'MISSED'];
};
export const atLeast = (name: string, measured = NaN, limit: number): SpeedTarget => {
  return [name, `≥ ${limit}`, shown(measured), measured >= limit ? 'met' : 'MISSED'];
};

/** Returns the target of a statement that has to be true. */
export const mustBeTrue = (statement: string, isTrue: boolean): SpeedTarget => [
  statement,
  'yes',
  isTrue ? 'yes' : 'no',
  isTrue ? 'met' : 'MISSED',
];

/**
 * Describes the machine. A high load shows that other processes use the machine, and that the measured times are too
 * long.
 */
export const machineText = (): string =>
  `Load of the machine before the run ${shown(loadavg()[0] ?? NaN)}; ${cpus()[0]?.model.trim()}, ${cpus().length} cores, ` +
  `${shown(totalmem() / 1_024 ** 3)} GB, Node ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}`;

/** Returns a number with three significant digits. */
function shown(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const magnitude = Math.abs(value);
  return value.toFixed(Number.isInteger(value) || magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : 2);
}

export function tableText({ title, columns, rows }: Table): string {
  const texts = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? shown(cell) : (cell ?? ''))));
  const widths = columns.map((name, at) => Math.max(name.length, 3, ...texts.map((row) => row[at]?.length ?? 0)));
  const isText = columns.map((_name, at) => texts.some((row) => /^[^–\d-]/.test(row[at] ?? '')));
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, at) => (cells[at] ?? '')[isText[at] ? 'padEnd' : 'padStart'](width)).join(' | ')} |\n`;
  const rule = widths.map((width, at) => (isText[at] ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return `${title}\n\n${line(columns)}${line(rule)}${texts.map(line).join('')}`;
}
