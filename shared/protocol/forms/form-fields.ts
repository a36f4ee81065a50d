// How an interface reads a form, and the boundary that a request names for one.

import type { BodyText, RequestMembers } from '../wire/index.ts';
import type { FormBody } from './form-body.ts';

/** A body whose fields are in its text. */
export type FormText = Extract<BodyText, { kind: 'text' }> & { readonly form: FormBody };

/** Fields that are no texts: in a form everything is written as one. */
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
/** RFC 2046 allows no more. */
const boundaryShape = /^[\x20-\x7e]{1,70}$/;

/** Undefined for a body of another type; empty where it is a form, and names no boundary that one can have. */
export function formBoundary(contentType: string | undefined): string | undefined {
  if (contentType === undefined || !mediaType.test(contentType)) return undefined;
  const [, quoted, plain] = parameter.exec(contentType) ?? [];
  const boundary = quoted ?? plain ?? '';
  return boundaryShape.test(boundary) ? boundary : '';
}
