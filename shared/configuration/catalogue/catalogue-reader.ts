// Reads the catalogue for one instance. A copy in memory costs no I/O while it is fresh, then one small read follows,
// and the whole body is read only when it has changed. While the store is down an old catalogue is better than no
// catalogue.
import { fail } from '../../errors/index.ts';
import { configFreshMs } from '../../foundation/constants/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { StoreUnavailable } from '../../storage/store/index.ts';
import { type Catalogue, loadCatalogue } from './catalogue.ts';
import { type CataloguePointer, type CatalogueStore, isSamePointer } from './catalogue-store.ts';

/**
 * Age of the last confirmation after which a copy is too old to bill by, because prices and providers change within
 * days.
 */
const catalogueStaleMaxMs = 3_600_000;
/**
 * Shortest time between two reads if there is no copy to serve, and a second read failed, however many calls the
 * process has.
 */
const failedAskAgainMs = 1_000;

export interface CatalogueReader {
  /**
   * Returns the current catalogue, at most `configFreshMs` old while the store answers. Throws StoreUnavailable, and
   * refuses while the gateway is paused.
   */
  current(): Promise<Catalogue>;
  /** Returns the catalogue from memory; undefined if it would have to be read, or calls are refused. */
  known(): Catalogue | undefined;
}

interface CatalogueReaderOptions {
  readonly catalogues: Pick<CatalogueStore, 'readPointer' | 'readDocument'>;
  readonly clock: Clock;
}

interface CatalogueRead {
  readonly pointer: CataloguePointer;
  /** The catalogue; undefined while calls are refused. */
  readonly catalogue: Catalogue | undefined;
}

/** Wait for clients during a pause, which lasts for minutes. */
const pausedRetryAfterSeconds = 60;

/** Throws while operators have paused the gateway, because writes of a call would be lost. */
export function refuseWhilePaused(pointer: Pick<CataloguePointer, 'refusesCalls'> | undefined): void {
  if (!pointer?.refusesCalls) return;
  throw fail('RATE_LIMITER_UNAVAILABLE', {
    message: 'This gateway is paused by its operators. Calls are served again afterwards.',
    retryAfterSeconds: pausedRetryAfterSeconds,
    isPaused: true,
  });
}

function catalogueOf({ pointer, catalogue }: CatalogueRead): Catalogue {
  refuseWhilePaused(pointer);
  if (catalogue === undefined) throw new StoreUnavailable(new Error('no catalogue was read'));
  return catalogue;
}

interface Copy extends CatalogueRead {
  /** Time at which the store last confirmed that the copy is current. */
  readonly confirmedAtMs: number;
  /**
   * Time before which no read is made. A failure moves this time too, so that a store that is down is not called with
   * every request.
   */
  readonly askAgainAtMs: number;
}

export function createCatalogueReader({ catalogues, clock }: CatalogueReaderOptions): CatalogueReader {
  let copy: Copy | undefined;
  let failed: { readonly error: StoreUnavailable; readonly askAgainAtMs: number } | undefined;
  let refreshing: Promise<Catalogue> | undefined;

  async function refresh(): Promise<Catalogue> {
    // The age counts from before the read, because the answer may be old by the time it arrives.
    const requestedAtMs = clock.nowMs();
    try {
      const current = await readCurrent(catalogues, copy);
      copy = { ...current, confirmedAtMs: requestedAtMs, askAgainAtMs: requestedAtMs + configFreshMs };
      failed = undefined;
    } catch (error) {
      if (copy === undefined || requestedAtMs - copy.confirmedAtMs > catalogueStaleMaxMs) {
        // The first failure causes no wait, because it may be the failure of the start.
        const waitMs = failed === undefined ? 0 : failedAskAgainMs;
        failed = { error: asUnavailable(error), askAgainAtMs: clock.nowMs() + waitMs };
        throw failed.error;
      }
      copy = { ...copy, askAgainAtMs: clock.nowMs() + configFreshMs };
    }
    return catalogueOf(copy);
  }

  return {
    known: () => (copy !== undefined && clock.nowMs() < copy.askAgainAtMs ? copy.catalogue : undefined),
    async current() {
      if (copy !== undefined && clock.nowMs() < copy.askAgainAtMs) return catalogueOf(copy);
      if (failed !== undefined && clock.nowMs() < failed.askAgainAtMs) throw failed.error;
      refreshing ??= refresh().finally(() => {
        refreshing = undefined;
      });
      return refreshing;
    },
  };
}

async function readCurrent(
  catalogues: CatalogueReaderOptions['catalogues'],
  known: CatalogueRead | undefined,
): Promise<CatalogueRead> {
  const pointer = await catalogues.readPointer();
  if (pointer === undefined) throw new Error('no gateway file was ever applied');
  // The document is not loaded while calls are refused, because its references may point to newer data by now.
  if (pointer.refusesCalls) return { pointer, catalogue: undefined };
  if (known !== undefined && isSamePointer(pointer, known.pointer)) return known;
  const document = await catalogues.readDocument(pointer);
  if (document === undefined) throw new Error(`the body of catalogue ${pointer.version} is missing`);
  return { pointer, catalogue: loadCatalogue(document, pointer.version) };
}

const asUnavailable = (error: unknown): StoreUnavailable =>
  error instanceof StoreUnavailable ? error : new StoreUnavailable(error);
