// Defines the structure of a row in the table of management routes.
import type * as z from 'zod/mini';
import type { Role } from '../access/index.ts';
import type { DocumentName } from './managed-documents.ts';

/** A gateway file as text, if the body is not JSON. */
export type GatewayFileText = 'gateway file';

export interface ManagementRoute {
  /** Name of the operation in the API description. */
  readonly operation: string;
  readonly summary: string;
  /** Names of the commands that make this request in the process of the command line. */
  readonly commands?: readonly string[];
  /**
   * The required role, checked before anything of a request is read: in any workspace, if the work itself checks the
   * workspace; in all workspaces; or in the workspace that the path names first.
   */
  readonly role: Role | `${Role} of all` | `${Role} there`;
  /** Schema of the query, which is not read if absent. */
  readonly query?: z.ZodMiniObject;
  /** Schema of the body, which is not read if absent. */
  readonly body?: z.ZodMiniObject | GatewayFileText;
  /** Bound of the body; default: the size of most changes. */
  readonly bodyMaxBytes?: number;
  readonly answer: { readonly one: DocumentName } | { readonly list: DocumentName } | GatewayFileText;
}
