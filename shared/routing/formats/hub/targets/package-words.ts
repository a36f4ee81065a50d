// What packages say of what was signed.

/** Who can read what Claude signs: older models on any platform; newer ones for the account that had it alone, and agents leave out what is refused. */
export const claudeOrigin = 'anthropic-claude-v1';

/** A word of a package that may be missing, or empty. */
export const nonEmpty = <Name extends string>(name: Name, value: unknown): { readonly [name in Name]?: string } =>
  typeof value === 'string' && value !== '' ? ({ [name]: value } as { [name in Name]: string }) : {};
