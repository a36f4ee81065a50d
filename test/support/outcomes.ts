// Responses reduced to what a test counts.
import { plainErrorOf } from './expect-error.ts';

/** Returns `ok`, or the code of an error. Reads the response to its end. */
export async function outcomeOf(response: Response): Promise<string> {
  const text = await response.text();
  return response.status === 200 ? 'ok' : plainErrorOf(JSON.parse(text)).error;
}

export async function countOutcomes(answers: readonly Promise<Response>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const outcome of await Promise.all(answers.map(async (answer) => outcomeOf(await answer)))) {
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}
