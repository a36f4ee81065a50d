// An answer that is relayed, in the form that was asked for. Errors stay as they came.
import type { NoAnswer, ReceivedAnswer } from '../../providers/index.ts';
import type { AskedAnswer } from './answer-form.ts';

/** Loaded with the first speech in its other delivery. */
export const loadSpeechForm = () => import('./forms.ts');

export async function inAskedForm(sent: ReceivedAnswer, asked: AskedAnswer): Promise<ReceivedAnswer | NoAnswer> {
  // Loaded with the first answer that has the other form.
  const { inOtherForm } = await import('./forms.ts');
  return inOtherForm(sent, asked);
}
