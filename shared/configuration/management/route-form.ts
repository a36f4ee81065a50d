// What a row of the table of management routes says.
import type * as z from 'zod/mini';
import type { Role } from '../access/index.ts';
import type { DocumentName } from './managed-documents.ts';

/** A gateway file as text, in place of JSON. */
export type GatewayFileText = 'gateway file';

export interface ManagementRoute {
  /** In the description of the interface. */
  readonly operation: string;
  readonly summary: string;
  /** The words of the commands that are this request, made in the process of the command line. */
  readonly commands?: readonly string[];
  /**
   * The role without which a request does nothing, asked before anything of it is read: in any workspace, and the work itself says in
   * which; in all of them; or in the one that the path names first.
   */
  readonly role: Role | `${Role} of all` | `${Role} there`;
  /** Left out: it is not read. */
  readonly query?: z.ZodMiniObject;
  /** Left out: it is not read. */
  readonly body?: z.ZodMiniObject | GatewayFileText;
  /** Default: what most changes need at the most. */
  readonly bodyMaxBytes?: number;
  readonly answer: { readonly one: DocumentName } | { readonly list: DocumentName } | GatewayFileText;
}
