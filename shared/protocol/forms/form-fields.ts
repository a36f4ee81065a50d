// Describes a form's fields, and reads the boundary that a request names for a form.

import type { BodyText, RequestMembers } from '../wire/index.ts';
import type { FormBody } from './form-body.ts';

/** A body whose fields are in its text. */
export type FormText = Extract<BodyText, { kind: 'text' }> & { readonly form: FormBody };

/** Types of fields whose values are not text, because a form writes every value as text. */
export interface FormFields {
  readonly numbers: ReadonlySet<string>;
  readonly flags: ReadonlySet<string>;
}

export interface FormReading extends RequestMembers {
  readonly formFields: FormFields;
  readonly boundary: string;
}

const mediaType = /^multipart\/form-data\s*(?:;|$)/i;
const parameter = /;\s*boundary=(?:"([^"]+)"|([^\s";,]+))/i;
/** Matches a boundary. RFC 2046 allows 70 characters at most. */
const boundaryShape = /^[\x20-\x7e]{1,70}$/;

/** Returns undefined for a body of another type, and an empty text for a form without a valid boundary. */
export function formBoundary(contentType: string | undefined): string | undefined {
  if (contentType === undefined || !mediaType.test(contentType)) return undefined;
  const [, quoted, plain] = parameter.exec(contentType) ?? [];
  const boundary = quoted ?? plain ?? '';
  return boundaryShape.test(boundary) ? boundary : '';
}
