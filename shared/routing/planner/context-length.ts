// Does a prompt fit? Only the provider's tokenizer knows. So no candidate is refused here: one that most likely
// cannot hold the prompt is asked last, and a prompt that none can hold gets the providers' own answer.
import type { Candidate } from '../../configuration/catalogue/index.ts';

/** Today's tokenizers take three to five bytes of prose or code into a token: beyond this a prompt hardly ever fits. */
const bytesPerToken = 5;

export const probablyFits = ({ entry }: Candidate, promptBytes: number): boolean =>
  promptBytes <= entry.context_length * bytesPerToken;
