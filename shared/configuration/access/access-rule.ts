// Who may do what on the management interface: `access` of the gateway file.

/**
 * member  sees its own calls and spending, makes and revokes its own keys
 * viewer  reads
 * editor  and changes keys and functions; of all workspaces: providers too
 * owner   and changes credit and limits; of all workspaces: everything
 */
export const roles = ['member', 'viewer', 'editor', 'owner'] as const;
export type Role = (typeof roles)[number];

export interface Grant {
  readonly role: Role;
  readonly workspaces: 'all' | readonly string[];
}

/** A grant to all of a group, as the identity provider names it, or to one person. */
export type AccessRule = Grant & ({ readonly group: string } | { readonly email: string });

/** What an identity token says of a person. */
export interface Person {
  /** Unique at the issuer, and never another person's. */
  readonly subject: string;
  /** Undefined: there is none, or the issuer did not verify it. */
  readonly email: string | undefined;
  readonly groups: readonly string[];
}

/** Several rules that match add up. */
export const grantsOf = (rules: readonly AccessRule[], { email, groups }: Person): Grant[] =>
  rules
    .filter((rule) => ('group' in rule ? groups.includes(rule.group) : isSameEmail(rule.email, email)))
    .map(({ role, workspaces }) => ({ role, workspaces }));

const isSameEmail = (written: string, email: string | undefined): boolean =>
  email !== undefined && written.toLowerCase() === email.toLowerCase();

/**
 * Whose keys they are. A subject is told apart from an e-mail, because some issuers let people choose their subject.
 */
export const ownerOf = ({ email, subject }: Pick<Person, 'email' | 'subject'>): string =>
  email === undefined ? `subject:${subject}` : email.toLowerCase();
