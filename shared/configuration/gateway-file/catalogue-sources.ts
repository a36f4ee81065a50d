// What completing a catalogue goes by, and what it tells. Types only.
import type { CatalogueDocument } from '../catalogue/index.ts';
import type { ModelList } from '../model-list/index.ts';
import type { Path } from './problems.ts';

export interface CatalogueSources {
  readonly former: CatalogueDocument | undefined;
  readonly list: ModelList;
  /** Of AWS, where the gateway runs. */
  readonly region: string | undefined;
  readonly nowMs: number;
}

/** What a file leaves out and applying it fills in, at one place of it. */
export interface FilledMembers {
  /** `models[openai/gpt-5.4].providers[openai]` */
  readonly place: string;
  readonly origin: string;
  readonly members: Readonly<Record<string, unknown>>;
}

/** Who completes a part tells these. */
export interface Told {
  readonly report: (path: Path, message: string) => void;
  readonly fill: (place: string, origin: string, members: FilledMembers['members']) => void;
}
