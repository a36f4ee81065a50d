// One item under load. It takes 1,000 write units a second; a write costs one for each KB of the item, and the item holds
// an entry for every call that is running. So more calls make each write dearer: the limit comes sooner than it seems.
import { amountOf } from './counted.ts';

export interface HotItem {
  readonly writesPerCall: number;
  readonly baseBytes: number;
  /** Entries that stand in the item for each call a second: how long a call holds. 0: it holds nothing there. */
  readonly secondsHeld: number;
}

const bytesPerUnit = 1_024;

/** Write units of one write at this rate. */
export const unitsPerWrite = ({ baseBytes, secondsHeld }: HotItem, perSecond: number): number =>
  Math.ceil((baseBytes + amountOf('holdBytes') * perSecond * secondsHeld) / bytesPerUnit);

export const unitsPerSecond = (item: HotItem, perSecond: number): number =>
  item.writesPerCall * perSecond * unitsPerWrite(item, perSecond);

/** Whole calls a second that fit. */
export const callsPerSecondMax = (item: HotItem): number =>
  largestFitting((perSecond) => unitsPerSecond(item, perSecond) <= amountOf('partitionWritesPerSecond'));

/** Above every rate that is asked about. */
const ratesEnd = 1_000_000;

/** The largest whole rate for which `fits` holds; it holds for 0, and for no rate above one for which it does not. */
export function largestFitting(fits: (perSecond: number) => boolean): number {
  let known = 0;
  let tooMuch = ratesEnd;
  while (tooMuch - known > 1) {
    const middle = Math.floor((known + tooMuch) / 2);
    if (fits(middle)) known = middle;
    else tooMuch = middle;
  }
  return known;
}
