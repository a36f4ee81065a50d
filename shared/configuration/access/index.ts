// Defines the access rules of the management interface, which are `access` in the gateway file.

import {
  type DocumentWrite,
  documentIn,
  type Store,
  writeDocument,
  writeOptimistically,
} from '../../storage/store/index.ts';

/**
 * The roles, each with the rights of the roles before it:
 * member  sees its own calls and spending, makes and revokes its own keys
 * viewer  reads
 * editor  changes keys and functions; of all workspaces: providers too
 * owner   changes credit and limits; of all workspaces: everything
 */
export const roles = ['member', 'viewer', 'editor', 'owner'] as const;
export type Role = (typeof roles)[number];
/** Roles of operator keys. An operator key owns no API keys, so it cannot be a member. */
export const operatorRoles = ['viewer', 'editor', 'owner'] as const satisfies readonly Role[];
export type OperatorRole = (typeof operatorRoles)[number];

export interface Grant {
  readonly role: Role;
  readonly workspaces: 'all' | readonly string[];
  /** Set if an editor may read the bodies of calls, as owners may. */
  readonly content?: boolean | undefined;
}

/** A grant to everyone in a group, as the identity provider names it, or to one person. */
export type AccessRule = Grant & ({ readonly group: string } | { readonly email: string });

/** Claims of an identity token about a person. */
export interface Person {
  /** Id that is unique at the issuer, and never reused for another person. */
  readonly subject: string;
  /** E-mail; undefined when there is none, or the issuer did not verify it. */
  readonly email: string | undefined;
  readonly groups: readonly string[];
}

/** Returns the grants of all matching rules, which add up. */
export const grantsOf = (rules: readonly AccessRule[], { email, groups }: Person): Grant[] =>
  rules
    .filter((rule) => ('group' in rule ? groups.includes(rule.group) : isSameEmail(rule.email, email)))
    .map(({ role, workspaces, content }) => ({ role, workspaces, content }));

const isSameEmail = (written: string, email: string | undefined): boolean =>
  email !== undefined && inLowerCase(written) === inLowerCase(email);

/**
 * Converts an e-mail in ASCII letters only, because beyond ASCII different letters become the same, for example the
 * Kelvin sign a k.
 */
export const inLowerCase = (email: string): string => email.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/**
 * Returns the owner of the person's keys. A subject is distinguished from an e-mail, because some issuers let people
 * choose their subject.
 */
export const ownerOf = ({ email, subject }: Pick<Person, 'email' | 'subject'>): string =>
  email === undefined ? `subject:${subject}` : inLowerCase(email);

// Defines the rights from all grants of one operator or person. Pure, because rights are evaluated with every request
// of the management interface.
export interface Rights {
  /** True if the role, or a higher one, applies in this workspace. */
  holds(role: Role, workspace: string): boolean;
  /** True if the role in this workspace is exactly member. A viewer reads, and makes no keys. */
  isMember(workspace: string): boolean;
  /** True if the bodies of calls of this workspace may be read. */
  readsContent(workspace: string): boolean;
  /** True if the role, or a higher one, applies in all workspaces, later ones included. */
  holdsInAll(role: Role): boolean;
  /** True if the role, or a higher one, applies in some workspace. */
  holdsSomewhere(role: Role): boolean;
  /** Returns the workspaces in which the role, or a higher one, applies. */
  workspacesOf(role: Role): 'all' | ReadonlySet<string>;
}

export function rightsOf(grants: readonly Grant[]): Rights {
  const reaching = (role: Role) => grants.filter((grant) => roles.indexOf(grant.role) >= roles.indexOf(role));
  const workspacesOf = (role: Role): 'all' | ReadonlySet<string> => {
    const names = new Set<string>();
    for (const { workspaces } of reaching(role)) {
      if (workspaces === 'all') return 'all';
      for (const workspace of workspaces) names.add(workspace);
    }
    return names;
  };
  const holds = (role: Role, workspace: string) => {
    const workspaces = workspacesOf(role);
    return workspaces === 'all' || workspaces.has(workspace);
  };
  const isGranted = (workspace: string, allows: (grant: Grant) => boolean) =>
    grants.some((grant) => allows(grant) && (grant.workspaces === 'all' || grant.workspaces.includes(workspace)));
  return {
    holds,
    workspacesOf,
    isMember: (workspace) => isGranted(workspace, ({ role }) => role === 'member'),
    readsContent: (workspace) =>
      isGranted(workspace, ({ role, content }) => role === 'owner' || (role === 'editor' && content === true)),
    holdsInAll: (role) => workspacesOf(role) === 'all',
    holdsSomewhere: (role) => reaching(role).some(({ workspaces }) => workspaces === 'all' || workspaces.length > 0),
  };
}

// The stored access rules: one item, read with every request of a person, so that a change applies at once.
const accessKey = 'ACCESS';

export interface AccessStore {
  /** Reads the rules with strong consistency. Empty if only operator keys open the management interface. */
  read(): Promise<readonly AccessRule[]>;
  /** Replaces all rules. Throws WriteRefused when other writes continue to arrive between. */
  write(rules: readonly AccessRule[]): Promise<DocumentWrite>;
}

export function createAccessStore(store: Pick<Store, 'get' | 'put'>): AccessStore {
  const readItem = () => store.get('config', accessKey);
  return {
    async read() {
      const item = await readItem();
      return item === undefined ? [] : documentIn<AccessRule[]>(item);
    },
    write: (rules) =>
      writeOptimistically('access is', async () => {
        const former = await readItem();
        if (former === undefined && rules.length === 0) return 'unchanged';
        return writeDocument(store, accessKey, former, rules);
      }),
  };
}
