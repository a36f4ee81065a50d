// Shows figures over time as a plot, with the same values as a table for people who use a screen reader.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { Time } from './time.tsx';

export interface PlotLine {
  readonly title: string;
  /** Name of a colour in the style sheet. */
  readonly color: string;
  /** Values by time; null for an unknown value. */
  readonly values: readonly (number | null)[];
}

interface PlotProperties {
  readonly title: string;
  /** Start of each interval, in seconds since 1970. */
  readonly times: readonly number[];
  readonly intervalSeconds: number;
  readonly lines: readonly PlotLine[];
  readonly kind: 'bars' | 'line';
  readonly show: (value: number | null) => string;
}

const heightPixels = 180;
/** Sizes of the axes: the height of the labels of times, and the width of the labels of values. */
const timesPixels = 30;
const valuesPixels = 64;
/** Share of the interval's width, and the maximum width of a bar in pixels. */
const barShare = 0.8;
const barMaxPixels = 40;

export const Plot = (properties: PlotProperties) => {
  const { title, times, lines, show } = properties;
  const place = useRef<HTMLDivElement>(null);
  const isDark = useIsDark();
  // A change of `isDark` draws the plot again, because it changes the colours of the style sheet.
  useLayoutEffect(() => {
    if (place.current === null) return;
    const plot = draw(place.current, properties);
    const observer = new ResizeObserver(([entry]) => {
      if (entry) plot.setSize({ width: entry.contentRect.width, height: heightPixels });
    });
    observer.observe(place.current);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [properties.times, properties.lines, isDark]);
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <p class="legend" aria-hidden="true">
        {lines.map((line) => (
          <span key={line.title} class={`mark ${line.color}`}>
            {line.title}
          </span>
        ))}
      </p>
      <div ref={place} class="plot" aria-hidden="true" />
      <details>
        <summary>
          Values<span class="hidden"> of {title}</span>
        </summary>
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {lines.map((line) => (
                <th key={line.title} scope="col" class="number">
                  {line.title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map((seconds, at) => (
              <tr key={seconds}>
                <td>
                  <Time instant={new Date(seconds * 1_000).toISOString()} />
                </td>
                {lines.map((line) => (
                  <td key={line.title} class="number">
                    {show(line.values[at] ?? null)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
};

function draw(place: HTMLElement, { times, intervalSeconds, lines, kind, show }: PlotProperties): uPlot {
  const axis = {
    stroke: colorOf(place, 'muted'),
    grid: { stroke: colorOf(place, 'line'), width: 1 },
    ticks: { show: false },
  };
  const paths = kind === 'bars' ? uPlot.paths.bars?.({ size: [barShare, barMaxPixels] }) : undefined;
  const options: uPlot.Options = {
    width: place.clientWidth,
    height: heightPixels,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      // Bars need space at both ends, and a plot of one interval needs a width.
      x: { range: (_plot, first, last) => [first - intervalSeconds / 2, last + intervalSeconds / 2] },
      y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] },
    },
    axes: [
      { ...axis, size: timesPixels, values: (_plot, values) => values.map(instantOf) },
      { ...axis, size: valuesPixels, values: (_plot, values) => values.map((value) => show(value)) },
    ],
    series: [
      {},
      ...lines.map(({ title, color }) => ({
        label: title,
        stroke: colorOf(place, color),
        width: kind === 'bars' ? 0 : 2,
        points: { show: kind === 'line', size: 5, fill: colorOf(place, color) },
        ...(kind === 'bars' ? { fill: colorOf(place, color) } : {}),
        ...(paths === undefined ? {} : { paths }),
      })),
    ],
  };
  const columns: uPlot.AlignedData = [[...times], ...lines.map(({ values }) => [...values])];
  return new uPlot(options, columns, place);
}

/** Resolves a colour for dark or light, because a canvas accepts no CSS variables. */
function colorOf(place: HTMLElement, name: string): string {
  place.style.color = `var(--${name})`;
  return getComputedStyle(place).color;
}

/** Formats the hour, or the day where it begins: `18:00`, `11-22`. */
function instantOf(seconds: number): string {
  const [day = '', hour = ''] = new Date(seconds * 1_000).toLocaleString('sv').split(' ');
  return hour.startsWith('00:00') ? day.slice('2026-'.length) : hour.slice(0, 'hh:mm'.length);
}

function useIsDark(): boolean {
  const [query] = useState(() => matchMedia('(prefers-color-scheme: dark)'));
  const [isDark, set] = useState(query.matches);
  useEffect(() => {
    const look = () => set(query.matches);
    query.addEventListener('change', look);
    return () => query.removeEventListener('change', look);
  }, [query]);
  return isDark;
}
