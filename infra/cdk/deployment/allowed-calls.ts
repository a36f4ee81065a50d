// Makes calls to AWS before a deployment. Calls that the shell's identity may not make are collected and reported
// together, by the names that a policy uses.

export class AllowedCalls {
  readonly #refused = new Set<string>();

  /** Makes a call. Returns undefined if it was refused, and rejects with any other error. */
  async try<Answer>(action: string, call: () => Promise<Answer>): Promise<Answer | undefined> {
    try {
      return await call();
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#refused.add(action);
      return undefined;
    }
  }

  refuse(action: string): void {
    this.#refused.add(action);
  }

  /** Throws one line that names every missing action. */
  check(): void {
    if (this.#refused.size === 0) return;
    const actions = [...this.#refused].toSorted().join(', ');
    throw new Error(`this identity may not: ${actions} (infra/cdk/README.md, "What the account must allow")`);
  }
}

interface ServiceError {
  readonly name?: string;
  readonly message?: string;
  readonly cause?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** Returns whether an error is a refusal, which services name differently. */
export function isRefusal(error: unknown): boolean {
  const { name = '', $metadata, cause } = error as ServiceError;
  if (/^(AccessDenied|AccessDeniedException|UnauthorizedOperation|NotAuthorized)/.test(name)) return true;
  return $metadata?.httpStatusCode === 403 || (cause !== undefined && isRefusal(cause));
}

/** Returns undefined if the error means that a resource does not exist. */
export async function unlessAbsent<Answer>(call: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await call;
  } catch (error) {
    const { name = '', $metadata } = error as ServiceError;
    if (name === 'ResourceNotFoundException' || $metadata?.httpStatusCode === 404) return undefined;
    throw error;
  }
}
