// Assembles a transcription from its events. The last event has the whole text.
import type { EventFold, FoldedObject } from '../../event-folds/index.ts';

export function openTranscriptionFold(): EventFold {
  let text = '';
  let whole: FoldedObject | undefined;
  return {
    add({ type, ...fields }) {
      if (type === 'transcript.text.done') whole = fields;
      else if (type === 'transcript.text.delta' && typeof fields.delta === 'string') text += fields.delta;
    },
    answer: () => whole ?? { text },
  };
}
