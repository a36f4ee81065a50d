import type { BodyText } from '../wire/index.ts';
import type { FormReading, FormText } from './form-fields.ts';

export * from './form-body.ts';
export * from './form-fields.ts';

/** Loads the reader with the first form. Never throws, because a refused key has precedence over an invalid body. */
export async function readForm(bytes: Buffer, reading: FormReading): Promise<FormText | BodyText> {
  return (await import('./read-form.ts')).readForm(bytes, reading);
}
