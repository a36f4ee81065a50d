// Form of a row in the table of management routes.
import type * as z from 'zod/mini';
import type { Role } from '../access/index.ts';
import type { DocumentName } from './managed-documents.ts';

/** A gateway file as text, in place of JSON. */
export type GatewayFileText = 'gateway file';

export interface ManagementRoute {
  /** Operation in the API description. */
  readonly operation: string;
  readonly summary: string;
  /** The words of the commands that are this request, made in the process of the command line. */
  readonly commands?: readonly string[];
  /**
   * The required role, checked before anything of a request is read: in any workspace, and the work itself decides in
   * which; in all of them; or in the one that the path names first.
   */
  readonly role: Role | `${Role} of all` | `${Role} there`;
  /** Is not read if absent. */
  readonly query?: z.ZodMiniObject;
  /** Is not read if absent. */
  readonly body?: z.ZodMiniObject | GatewayFileText;
  /** Defaults to the size of most changes. */
  readonly bodyMaxBytes?: number;
  readonly answer: { readonly one: DocumentName } | { readonly list: DocumentName } | GatewayFileText;
}
